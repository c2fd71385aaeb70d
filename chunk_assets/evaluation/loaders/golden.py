"""The project's own format: ``questions.yaml`` with a ``documents`` table and quotes with spans.

    root: ../samples
    documents:
      - {file: seed/short_faq.md, split: held_out, tags: []}
    questions:
      - id: faq-001
        document: seed/short_faq.md
        kind: faq
        question: …
        all: [{quote: …, span: [120, 180]}]     # or any: […], or neither when nothing answers it

``span`` is optional; where it is given, ``markdown[start:end] == quote`` exactly. A file may also be a
part of another: ``part_of: ../questions.yaml`` and ``documents_below: seed/``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from chunk_assets.errors import ConfigurationError
from chunk_assets.evaluation.loaders.documents import read_document
from chunk_assets.evaluation.locate import Folded, fold, locate
from chunk_assets.evaluation.records import HELD_OUT, EvalDocument, Place, Question, QuestionSet

FILE = "questions.yaml"


def matches(folder: Path) -> bool:
    """Whether the folder's ``questions.yaml`` names its documents."""
    path = folder / FILE
    if not path.is_file():
        return False
    lines = path.read_text("utf-8").splitlines()
    return any(line.startswith(("documents:", "part_of:")) for line in lines)


def load(folder: Path) -> QuestionSet:
    """The set, every truth found in its converted document."""
    import yaml

    content = yaml.safe_load((folder / FILE).read_text("utf-8"))
    if "part_of" in content:
        whole = load((folder / content["part_of"]).parent)
        return _part(whole, content.get("name", folder.name), content.get("documents_below", ""))
    root = (folder / content.get("root", ".")).resolve()
    entries = content["documents"]
    documents = tuple(read_document(root, e["file"], e.get("tags", ())) for e in entries)
    texts = {d.name: (d, fold(d.markdown)) for d in documents}
    questions = tuple(_question(q, texts) for q in content["questions"])
    splits = {e["file"]: e.get("split", HELD_OUT) for e in entries}
    return QuestionSet(content.get("name", folder.name), documents, questions, splits)


def _part(whole: QuestionSet, name: str, prefix: str) -> QuestionSet:
    """The documents of ``whole`` whose names begin with ``prefix``, and the questions on them."""
    documents = tuple(d for d in whole.documents if d.name.startswith(prefix))
    questions = tuple(q for q in whole.questions if q.group.startswith(prefix))
    return replace(whole, name=name, documents=documents, questions=questions)


def _question(entry: dict[str, Any], texts: dict[str, tuple[EvalDocument, Folded]]) -> Question:
    if entry["document"] not in texts:
        raise ConfigurationError(f"{entry['id']}: document {entry['document']!r} is not listed")
    document, folded = texts[entry["document"]]
    found_all = tuple(_place(t, entry["id"], document, folded) for t in entry.get("all", ()))
    found_any = tuple((_place(t, entry["id"], document, folded),) for t in entry.get("any", ()))
    alternatives = found_any or ((found_all,) if found_all else ())
    return Question(entry["id"], entry["question"], alternatives, entry.get("kind", ""), document.name)


def _place(truth: dict[str, Any], question: str, document: EvalDocument, folded: Folded) -> Place:
    if "span" not in truth:
        return locate(truth["quote"], folded, document.name)
    start, end = truth["span"]
    found = document.markdown[start:end]
    if found != truth["quote"]:
        raise ConfigurationError(f"{question}: {document.name}[{start}:{end}] reads {found[:120]!r}")
    return Place(document.name, start, end)
