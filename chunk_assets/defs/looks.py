"""What a look at the sources finds: batches with something to do, and sources that can't be listed."""

from dataclasses import dataclass, field

from chunk_assets.pipeline import Batch


@dataclass(frozen=True, slots=True)
class Todo:
    """A batch with something to do. ``state`` names what is there and how it would be worked on.

    ``listed`` and ``published`` name the documents that are in the source and those that the tables were
    made of; documents wait when the two differ.
    """

    batch: Batch
    state: str
    listed: str = ""
    published: str = ""


@dataclass(slots=True)
class Look:
    """What one look at the sources found."""

    todo: list[Todo] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)
    future: list[Batch] = field(default_factory=list)
