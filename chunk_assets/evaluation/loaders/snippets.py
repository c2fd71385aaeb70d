"""A ``questions.yaml`` whose truths are verbatim ``gold_snippets`` in the documents beside it.

A question's tag ``src:<file stem>`` names its document; without a known one, each snippet is looked
for in all documents, and the first that has it exactly once is taken. Training and held-out questions
are two halves by a hash of their text.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from chunk_assets.errors import ConfigurationError
from chunk_assets.evaluation.loaders.documents import read_document
from chunk_assets.evaluation.locate import Folded, fold, locate
from chunk_assets.evaluation.records import HELD_OUT, TRAIN, Place, Question, QuestionSet
from chunk_assets.hashing import bucket

FILE = "questions.yaml"
_DOCUMENTS = {".md", ".txt", ".docx", ".pdf", ".html", ".xlsx", ".csv", ".pptx"}


def matches(folder: Path) -> bool:
    """Whether the folder's ``questions.yaml`` quotes its truths as snippets."""
    path = folder / FILE
    return path.is_file() and "gold_snippets" in path.read_text("utf-8")


def load(folder: Path) -> QuestionSet:
    """The set, every snippet found in its converted document."""
    import yaml

    entries = yaml.safe_load((folder / FILE).read_text("utf-8"))["questions"]
    files = sorted(p.name for p in folder.iterdir() if p.suffix in _DOCUMENTS)
    documents = tuple(read_document(folder, file) for file in files)
    texts = {Path(d.name).stem: (d.name, fold(d.markdown)) for d in documents}
    questions = tuple(_question(e, texts) for e in entries)
    return QuestionSet(folder.name, documents, questions, {"0": TRAIN, "1": HELD_OUT})


def _question(entry: dict[str, Any], texts: dict[str, tuple[str, Folded]]) -> Question:
    tags = [str(t) for t in entry.get("tags", ())]
    stem = next((t.removeprefix("src:") for t in tags if t.startswith("src:")), "")
    searched = [texts[stem]] if stem in texts else list(texts.values())
    places = tuple(_place(str(s), searched) for s in entry["gold_snippets"])
    alternatives = (places,) if places else ()
    kind, half = tags[0] if tags else "", str(bucket(entry["query"], 2))
    return Question(entry["id"], entry["query"], alternatives, kind, half)


def _place(snippet: str, searched: list[tuple[str, Folded]]) -> Place:
    faults = []
    for name, folded in searched:
        try:
            return locate(snippet, folded, name)
        except ConfigurationError as fault:
            faults.append(str(fault))
    raise ConfigurationError("; ".join(faults))
