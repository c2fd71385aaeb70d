"""The format of Chroma's chunking evaluation: ``questions_df.csv`` beside one ``.md`` a corpus.

Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval", 2024. The questions of each
corpus are split in two halves by a hash of their text, since there are too few corpora to split.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

from chunk_assets.evaluation.records import HELD_OUT, TRAIN, EvalDocument, Place, Question, QuestionSet
from chunk_assets.hashing import bucket
from chunk_assets.records import DocumentMetadata

FILE = "questions_df.csv"


def matches(folder: Path) -> bool:
    """Whether the folder has Chroma's table of questions."""
    return (folder / FILE).is_file()


def load(folder: Path) -> QuestionSet:
    """The set; the corpora are used as they are, since the truths are offsets into them."""
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    with (folder / FILE).open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    names = sorted({row["corpus_id"] for row in rows})
    documents = tuple(_corpus(folder, name) for name in names)
    texts = {d.name: d.markdown for d in documents}
    made = [_question(index, row, texts) for index, row in enumerate(rows)]
    questions = tuple(q for q in made if isinstance(q, Question))
    dropped = tuple(q for q in made if isinstance(q, str))
    return QuestionSet(folder.name, documents, questions, {"0": TRAIN, "1": HELD_OUT}, dropped)


def _corpus(folder: Path, name: str) -> EvalDocument:
    # newline="": the truths count characters of the file as it is
    with (folder / f"{name}.md").open(encoding="utf-8", newline="") as handle:
        return EvalDocument(name, handle.read(), DocumentMetadata(file_type="markdown"))


def _question(index: int, row: dict[str, str], texts: dict[str, str]) -> Question | str:
    """The question, or why it is dropped."""
    corpus = row["corpus_id"]
    places = []
    for reference in json.loads(row["references"]):
        place = Place(corpus, int(reference["start_index"]), int(reference["end_index"]))
        if texts[corpus][place.start : place.end] != reference["content"]:
            return f"question {index}: {corpus}[{place.start}:{place.end}] is not the reference"
        places.append(place)
    half = str(bucket(row["question"], 2))
    return Question(f"{corpus}-{index:03d}", row["question"], (tuple(places),), corpus, half)
