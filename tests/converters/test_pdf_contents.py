"""Tables of contents: number, title, dots and page number stand far apart and belong together."""

from __future__ import annotations

from chunk_assets.converters.base import Options
from chunk_assets.converters.pdf import PDF
from tests.converters import pdf_building as pdf


def markdown(*pages: str) -> str:
    return PDF.convert(pdf.build(pages), Options()).markdown


def _entry(y: float, number: str, title: str, page: str, left: float = 72) -> str:
    dots = " ".join("." * 48)
    return (
        pdf.text(left, y, number)
        + pdf.text(left + 36, y, title)
        + (pdf.text(left + 150, y, dots) if number.count(".") else "")
        + pdf.text(540 - 6 * len(page), y, page)
    )


def test_number_title_and_page_of_an_entry_are_one_line():
    titles = [
        ("1", "Scope"),
        ("1.1", "Terms"),
        ("1.2", "Signs"),
        ("2", "Use"),
        ("2.1", "Start"),
        ("2.2", "End"),
    ]
    rows = [_entry(700 - 16 * at, *entry, str(3 * at + 1)) for at, entry in enumerate(titles)]
    text = markdown("".join(rows))
    assert [line for line in text.split("\n") if line] == [
        "1 Scope 1", "1.1 Terms … 4", "1.2 Signs … 7", "2 Use 10", "2.1 Start … 13", "2.2 End … 16",
    ]  # fmt: skip


def test_entries_written_column_by_column_are_put_together():
    numbers, titles, pages = ["1.1", "1.2", "1.3"], ["Alpha", "Beta", "Gamma"], ["2", "15", "117"]
    content = pdf.lines(72, 700, numbers, leading=16)
    content += pdf.lines(120, 700, [f"{title} {'.' * 120}" for title in titles], leading=16)
    content += pdf.lines(520, 700, pages, leading=16)
    assert markdown(content).split("\n\n") == ["1.1 Alpha … 2", "1.2 Beta … 15", "1.3 Gamma … 117"]


def test_rows_of_figures_with_dots_after_their_labels_stay_rows_of_a_table():
    rows = [("Net sales", "12", "13"), ("Costs", "7", "8"), ("Profit", "5", "5"), ("Tax", "1", "2")]
    content = pdf.text(350, 716, "2023") + pdf.text(450, 716, "2022")
    for at, (label, *figures) in enumerate(rows):
        y = 700 - 16 * at
        content += pdf.text(72, y, f"{label} {'.' * 50}")
        content += pdf.text(360, y, figures[0]) + pdf.text(460, y, figures[1])
    lines = markdown(content).split("\n")
    assert "| Net sales | 12 | 13 |" in lines
    assert "| Profit | 5 | 5 |" in lines
