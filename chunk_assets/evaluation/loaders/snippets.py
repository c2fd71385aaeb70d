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
_DOCUMENTS = {".md", ".txt", ".docx", ".pdf", ".html", ".htm", ".xlsx", ".csv", ".tsv", ".pptx", ".eml"}


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
    questions, dropped = [], []
    for number, entry in enumerate(entries):
        try:
            questions.append(_question(number, entry, texts))
        except ConfigurationError as fault:
            dropped.append(f"question {entry.get('id', number)}: {fault}")
    splits = {"0": TRAIN, "1": HELD_OUT}
    return QuestionSet(folder.name, documents, tuple(questions), splits, tuple(dropped))


def _question(number: int, entry: dict[str, Any], texts: dict[str, tuple[str, Folded]]) -> Question:
    tags = [str(t) for t in entry.get("tags", ())]
    stem = next((t.removeprefix("src:") for t in tags if t.startswith("src:")), "")
    searched = [texts[stem]] if stem in texts else list(texts.values())
    places = tuple(_place(str(s), searched) for s in entry.get("gold_snippets") or ())
    alternatives = (places,) if places else ()
    text = str(entry.get("query") or entry["question"])
    kind, half = tags[0] if tags else "", str(bucket(text, 2))
    return Question(str(entry.get("id", number)), text, alternatives, kind, half)


def _place(snippet: str, searched: list[tuple[str, Folded]]) -> Place:
    faults = []
    for name, folded in searched:
        try:
            return locate(snippet, folded, name)
        except ConfigurationError as fault:
            faults.append(str(fault))
    raise ConfigurationError("; ".join(faults))
