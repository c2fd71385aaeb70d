"""A home to run the pipeline in, with an embedder that counts and can be told to misbehave."""

from __future__ import annotations

import hashlib
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chunk_assets.catalog import load_catalog
from chunk_assets.compute import WorkerPool
from chunk_assets.embedders import Embedded, load_embedder
from chunk_assets.pipeline import RunOptions, RunReport, Session, run_sources
from chunk_assets.records import TABLES
from chunk_assets.storage.tables import read_table

# Shorter chunks than any default, so that small texts have many of them.
CATALOG = """
embedder: {name: hash, dimension: 16}
policies:
  short: [{strategy: recursive, parameters: {max_chars: 330, overlap_chars: 0, min_tokens: 0}}]
policy: short
sources:
  docs: {path: docs}
"""


class CountingEmbedder:
    """The hash embedder, with a list of what it was asked, and a rule for what it refuses."""

    def __init__(self, **settings: Any) -> None:
        self._inner = load_embedder("hash", **{"dimension": 16, **settings})
        self.card = self._inner.card
        self.asked: list[str] = []
        self.refuse: Callable[[str], str] = lambda text: ""
        self.fail: Callable[[str], bool] = lambda text: False

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._inner.count_tokens(texts)

    def embed(self, texts: Sequence[str], *, workers: int = 1) -> Iterator[Embedded]:
        for index, text in enumerate(texts):
            if self.fail(text):
                raise RuntimeError("out of order")
            self.asked.append(text)
            if reason := self.refuse(text):
                yield Embedded(index, None, reason)
            else:
                yield Embedded(index, self._inner.embed_query(text))

    def embed_query(self, text: str) -> Any:
        return self._inner.embed_query(text)

    def close(self) -> None:
        pass


@dataclass
class Home:
    """A folder with a catalog and a source folder ``docs``."""

    path: Path
    executor: WorkerPool
    embedder: CountingEmbedder = field(default_factory=CountingEmbedder)

    @property
    def docs(self) -> Path:
        return self.path / "docs"

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.docs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def catalog(self, text: str) -> None:
        (self.path / "sources.yaml").write_text(text)

    def session(self, **options: Any) -> Session:
        self.embedder.asked.clear()
        chosen = RunOptions(**{"executor": self.executor, "workers": 1, **options})
        return Session(load_catalog(self.path), chosen, self.embedder)

    def run(self, **options: Any) -> RunReport:
        """One run; what the embedder was asked in it is in ``embedder.asked``."""
        session = self.session(**options)
        return run_sources(session.catalog, session=session)

    def rows(self, table: str) -> list[dict[str, Any]]:
        """All rows of a published table, in order."""
        files = sorted((self.path / "tables" / table).rglob("*.parquet"))
        return [row for file in files for row in read_table(file).to_pylist()]

    def column(self, table: str, name: str) -> list[Any]:
        return [row[name] for row in self.rows(table)]

    def files(self) -> dict[str, tuple[str, int, int]]:
        """Hash, modification time and inode of every published table file."""
        found = {}
        for table in TABLES:
            for path in sorted((self.path / "tables" / table).rglob("*.parquet")):
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                found[str(path.relative_to(self.path))] = (
                    digest,
                    path.stat().st_mtime_ns,
                    path.stat().st_ino,
                )
        return found

    def hashes(self) -> dict[str, str]:
        return {name: facts[0] for name, facts in self.files().items()}

    def assert_in_step(self) -> None:
        """Every chunk has one vector of its own text, no vector is left over, ids are gapless."""
        chunks, vectors = self.rows("chunks"), self.rows("embeddings")
        assert [(c["chunk_id"], c["chunk_sha256"]) for c in chunks] == [
            (v["chunk_id"], v["chunk_sha256"]) for v in vectors
        ]
        seen: dict[str, int] = {}
        for chunk in chunks:
            assert chunk["chunk_index"] == seen.get(chunk["document_id"], 0)
            seen[chunk["document_id"]] = chunk["chunk_index"] + 1
        assert set(seen) <= set(self.column("raw_documents", "document_id"))
        assert self.column("raw_documents", "document_id") == self.column("markdown_documents", "document_id")


WORDS = "ledger margin tender quota harbour signal lumber garden copper meadow anchor violet"


def prose(seed: str, paragraphs: int) -> str:
    """Paragraphs of plain sentences, different for each seed; one chunk each under the test policy."""
    words, out = WORDS.split(), []
    for number in range(paragraphs):
        digest = hashlib.sha256(f"{seed}{number}".encode()).digest()
        chosen = [words[byte % len(words)] for byte in digest]
        sentences = [" ".join(chosen[i : i + 8]).capitalize() + f" {seed} {number}." for i in (0, 8, 16, 24)]
        out.append(" ".join(sentences))
    return "\n\n".join(out) + "\n"


def numbered_pdf(pages: int) -> bytes:
    """A PDF whose every page says its own number three times."""
    text = "This is sheet {0} of the report. It says {0} so that anyone can see {0}."
    return pdf_of([text.format(number) for number in range(1, pages + 1)])


def pdf_of(pages: list[str]) -> bytes:
    """A PDF with one paragraph of ASCII text a page, in lines of about 90 characters."""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    kids = []
    for text in pages:
        shown = " ".join(f"({line}) Tj 0 -14 Td" for line in textwrap.wrap(text, 90))
        stream = f"BT /F1 11 Tf 72 700 Td {shown} ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        kids.append(f"{len(objects) + 1} 0 R")
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {len(objects)} 0 R >>"
        )
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(pages)} >>"
    out, offsets = "%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n"
    out += "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
    return out.encode()


def status(home: Home) -> dict[str, tuple[str, str]]:
    return {row["document_id"]: (row["status"], row["reason"]) for row in home.rows("raw_documents")}
