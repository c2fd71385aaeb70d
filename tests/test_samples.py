"""The samples are what the maker makes, and are of the kinds that the demo promises to show."""

from __future__ import annotations

import csv
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml


@pytest.fixture(scope="module")
def samples(root: Path) -> Path:
    return root / "data" / "samples"


@pytest.fixture(scope="module")
def remade(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("samples")
    command = [sys.executable, str(root / "data" / "make_samples.py"), "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True, cwd=out)
    return out


def test_every_made_sample_comes_out_byte_for_byte_again(samples: Path, remade: Path) -> None:
    made = sorted(p.relative_to(remade) for p in remade.rglob("*") if p.is_file())
    assert len(made) >= 12
    changed = [str(p) for p in made if (samples / p).read_bytes() != (remade / p).read_bytes()]
    assert changed == []


def test_no_office_file_carries_a_date_of_its_making(samples: Path) -> None:
    for path in [*samples.rglob("*.docx"), *samples.rglob("*.xlsx"), *samples.rglob("*.pptx")]:
        if "damaged" not in path.parts:
            with zipfile.ZipFile(path) as archive:
                assert {i.date_time for i in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}, path
                assert b"2026-01-01T00:00:00Z" in archive.read("docProps/core.xml"), path


def test_the_handbook_is_more_than_twenty_pages_long_and_does_not_repeat_itself(samples: Path) -> None:
    text = (samples / "seed" / "long_handbook.md").read_text("utf-8")
    assert len(text.split()) >= 9_000
    body = text.partition("## Annex: site sheets")[0]  # the sheets are alike on purpose
    lines = [line for line in body.splitlines() if len(line) > 60]
    assert len(set(lines)) == len(lines)


def test_each_filing_has_one_row_of_metadata_and_they_fall_into_two_months(samples: Path) -> None:
    folder = samples / "filings"
    with (folder / "metadata.csv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    files = {p.name for p in folder.iterdir() if p.name != "metadata.csv"}
    assert {row["file"] for row in rows} == files
    assert len({row["filing_date"][:7] for row in rows}) >= 2
    assert len({(row["cik"], row["accession_number"]) for row in rows}) == len(rows)
    assert all(len(row["cik"]) == 10 for row in rows)


def test_sidecars_belong_to_a_file_and_are_mappings(samples: Path) -> None:
    sidecars = list(samples.rglob("*.meta.yaml"))
    assert sidecars
    for sidecar in sidecars:
        assert sidecar.with_name(sidecar.name.removesuffix(".meta.yaml")).exists()
        assert "contract" in yaml.safe_load(sidecar.read_text("utf-8"))["tags"]


def test_the_samples_stay_small(samples: Path) -> None:
    assert sum(p.stat().st_size for p in samples.rglob("*") if p.is_file()) < 3_000_000


def test_the_locked_pdf_opens_with_its_password_only(samples: Path) -> None:
    import pypdfium2

    path = samples / "damaged" / "signed_lease_locked.pdf"
    with pytest.raises(pypdfium2.PdfiumError, match="password"):
        pypdfium2.PdfDocument(path)
    document = pypdfium2.PdfDocument(path, password="swaythorpe")
    page = document[0]
    text = page.get_textpage()
    assert "Thornbury" in text.get_text_range()
    for handle in (text, page, document):
        handle.close()
