"""Makes the binary samples: ``python data/make_samples.py [--out FOLDER]``.

Same texts and library versions give the same bytes; a test makes them anew and compares.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from sample_maker import encrypt, html, office, pdf
from sample_maker.figures import BRIEFING, QUARTERLY
from sample_maker.markup import load

SAMPLES = Path(__file__).parent / "samples"


def make() -> dict[str, bytes]:
    """Every made sample by its path below ``samples/``."""
    annual = load("calder_ridge_10k_fy2025")
    report = pdf.render(annual, "Calder Ridge Pumps, Inc.  |  Form 10-K 2025", "Calder Ridge 10-K 2025")
    lease = load("lease_schedule_a_thornbury")
    locked = pdf.objects(pdf.Layout(lease, "Harrow Gate Leasing").contents(), "Signed lease")
    quarter, loam = load("calder_ridge_10q_q1_fy2026"), load("meridian_loam_10k_fy2025")
    return {
        "filings/calder_ridge_10k_fy2025.pdf": report,
        "filings/calder_ridge_10q_q1_fy2026.html": html.render(quarter, "Calder Ridge Pumps 10-Q, Q1 2026"),
        "filings/meridian_loam_10k_fy2025.html": html.render(loam, "Meridian Loam Foods 10-K 2025"),
        "contracts/vantry_pellam_services_agreement.docx": _word(
            "vantry_pellam_services_agreement", "Vantry Legal"
        ),
        "contracts/lease_schedule_a_thornbury.docx": office.word(lease, "Harrow Gate Leasing"),
        "contracts/lease_schedule_b_wexcombe.docx": _word("lease_schedule_b_wexcombe", "Harrow Gate Leasing"),
        "desk/tern_hollow_q2_2026.xlsx": office.sheet(QUARTERLY),
        "desk/lunde_opening.pptx": office.slides(BRIEFING),
        "damaged/signed_lease_locked.pdf": encrypt.lock(locked, "swaythorpe"),
        "damaged/scan_cut_off.pdf": report[: len(report) // 50],
        "damaged/offer_half_uploaded.docx": office.word(lease, "Harrow Gate Leasing")[:9000],
        "damaged/forgotten_note.txt": b"",
    }


def _word(name: str, author: str) -> bytes:
    return office.word(load(name), author)


def main() -> None:
    """Writes the samples and prints their sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=SAMPLES)
    out = parser.parse_args().out
    for name, data in make().items():
        target = out / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        print(f"{len(data):>9,}  {name}")


if __name__ == "__main__":
    main()
