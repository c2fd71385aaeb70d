"""The markdown and page map of every sample document, written down for people to read."""

from __future__ import annotations

from pathlib import Path

import pytest

from chunk_assets.conversion import convert_bytes
from chunk_assets.converters.base import Options
from chunk_assets.records import Converted

ROOT = Path(__file__).resolve().parent.parent.parent
SAMPLES = ROOT / "data" / "samples"
GOLDEN = ROOT / "tests" / "golden" / "conversion"
# Files that describe documents and are none themselves.
_BESIDE = ("metadata.csv", ".meta.yaml")
FILES = sorted(path for path in SAMPLES.rglob("*") if path.is_file() and not path.name.endswith(_BESIDE))


def golden_path(path: Path) -> Path:
    """Where the golden file of a sample is kept."""
    return GOLDEN / f"{'__'.join(path.relative_to(SAMPLES).parts)}.md"


def readable(converted: Converted) -> str:
    """All that a conversion says, as a person would read it: a head, then the text with page rulers.

    A ruler stands on a line of its own before each page. Where a page starts within a line, the ruler
    says so, since the line break there is the ruler's and not the text's.
    """
    head = [f"status: {converted.status}"]
    head += [f"reason: {converted.reason}"] if converted.reason else []
    for name, value in sorted(converted.facts.items()):
        head.append(f"{name}: {' ⏎ '.join(value.split(chr(10)))}")
    head += [f"warning: {warning}" for warning in converted.warnings]
    return "\n".join(head) + "\n\n" + _with_rulers(converted)


def _with_rulers(converted: Converted) -> str:
    text = converted.markdown
    if not converted.pages:
        return f"--- no pages ---\n{text}\n"
    parts = []
    for page in converted.pages:
        within = page.start > 0 and text[page.start - 1 : page.start] != "\n"
        within = within and text[page.start : page.start + 1] not in {"", "\n"}
        parts.append(f"--- page {page.number}{' (within a line)' if within else ''} ---\n")
        span = text[page.start : page.end]
        parts.append(span if span.endswith("\n") or not span else span + "\n")
    return "".join(parts)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_conversion_of_a_sample_is_as_written_down(path: Path, request: pytest.FixtureRequest) -> None:
    """Status, facts, warnings, text and page map; ``--update-golden`` rewrites the file and fails."""
    found = readable(convert_bytes(path.read_bytes(), path.name, Options()))
    kept = golden_path(path)
    if request.config.getoption("--update-golden"):
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(found.encode())
        pytest.fail(f"rewrote {kept.relative_to(ROOT)}; run again without --update-golden")
    assert kept.is_file(), f"no golden file {kept.relative_to(ROOT)}; run with --update-golden"
    assert kept.read_bytes().decode() == found


def test_every_golden_file_belongs_to_a_sample() -> None:
    """A sample that is gone leaves no golden file behind."""
    assert {path.name for path in GOLDEN.iterdir()} == {golden_path(path).name for path in FILES}
