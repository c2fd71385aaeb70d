"""The nouns of the evaluation: documents, questions with answer spans, and pieces of text to rank."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from chunk_assets.records import DocumentMetadata

TRAIN = "train"
HELD_OUT = "held_out"
UNANSWERABLE = "unanswerable"


@dataclass(frozen=True, slots=True)
class EvalDocument:
    """A converted document that questions are asked about. ``name`` is unique in its set."""

    name: str
    markdown: str
    metadata: DocumentMetadata = field(default_factory=DocumentMetadata)


@dataclass(frozen=True, slots=True)
class Place:
    """``markdown[start:end]`` of a document."""

    document: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Question:
    """One question about the documents of a set.

    ``alternatives`` are the truths in disjunctive form: the places of any one alternative, taken
    together, answer the question. It is empty for a question that the documents do not answer.
    ``group`` is what a train/held-out split is made by (usually the document).
    """

    id: str
    text: str
    alternatives: tuple[tuple[Place, ...], ...]
    kind: str = ""
    group: str = ""

    @property
    def answerable(self) -> bool:
        """Whether there is any truth to find."""
        return bool(self.alternatives)


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Documents and questions under a name.

    ``splits`` maps a question's group to its split. ``dropped`` says which questions of a foreign set
    were left out because their truth is not in the converted text, or not in one place only.
    """

    name: str
    documents: tuple[EvalDocument, ...]
    questions: tuple[Question, ...]
    splits: dict[str, str] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()

    def split(self, name: str | None) -> QuestionSet:
        """The same documents with the questions of one split; all questions for ``None``.

        The documents stay, since a corpus to search in does not shrink with the questions.
        """
        if name is None:
            return self
        kept = tuple(q for q in self.questions if self.splits.get(q.group, HELD_OUT) == name)
        return replace(self, name=f"{self.name}/{name}", questions=kept)


@dataclass(frozen=True, slots=True)
class Piece:
    """What a chunker makes: ``markdown[start:end]`` of a document, embedded after its ``context``."""

    document: str
    start: int
    end: int
    context: str = ""
