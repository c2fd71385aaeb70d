"""Pages of PDFs: sentences over page breaks, footnotes, running heads, page numbers."""

from __future__ import annotations

import pdf_building as pdf
import pytest
from pdf_building import convert


def test_pages_tile_the_text_and_hold_their_own_words():
    converted = convert(
        *[pdf.text(72, 700, f"This is what stands on page {number} only.") for number in range(1, 6)]
    )
    assert converted.pages[0].start == 0
    assert converted.pages[-1].end == len(converted.markdown)
    for page, following in zip(converted.pages, converted.pages[1:], strict=False):
        assert page.end == following.start
    for page in converted.pages:
        assert f"page {page.number} only" in converted.markdown[page.start : page.end]


def test_a_sentence_over_a_page_break_stays_whole_and_each_half_on_its_page():
    first = pdf.lines(
        72, 120, ["A first full sentence stands on this page. The second one", "runs on and is inter-"]
    )
    second = pdf.lines(72, 700, ["rupted only by the edge of the paper."])
    converted = convert(first, second)
    assert "is interrupted only by the edge" in converted.markdown
    edge = converted.pages[1].start
    assert converted.markdown[:edge].endswith("inter")
    assert converted.markdown[edge:].startswith("rupted")


def test_a_footnote_does_not_interrupt_the_sentence_that_runs_over_the_page():
    body = [
        "Revenue rose in all regions, as the demand for the goods",
        "of the group was strong, and the margins of the",
    ]
    first = pdf.lines(72, 140, body) + pdf.text(72, 80, "1 Excludes discontinued operations.", 8)
    converted = convert(first, pdf.lines(72, 700, ["segments were better than in any of the years before."]))
    assert "margins of the segments were better" in converted.markdown
    assert "1 Excludes discontinued operations." in converted.markdown
    assert converted.markdown.index("Excludes") < converted.pages[1].start


def test_running_heads_and_page_numbers_leave_the_flow_but_not_the_facts():
    pages = [
        pdf.text(72, 760, "ACME Holding plc - Annual report 2023", 9)
        + pdf.lines(
            72,
            700,
            [f"Paragraph of chapter {number} that says what is to be said.", "And another line of it."],
        )
        + pdf.text(300, 30, str(number), 9)
        for number in range(1, 7)
    ]
    converted = convert(*pages)
    assert converted.markdown.count("ACME Holding") == 1
    assert "ACME Holding plc - Annual report 2023" in converted.facts["running_heads"]
    assert "6" not in converted.markdown.replace("chapter 6", "")
    assert "Paragraph of chapter 6" in converted.markdown


def test_feet_with_a_page_count_leave_the_flow_but_not_the_facts():
    pages = [
        pdf.lines(72, 600, [f"What stands on sheet {n * n + 7}."]) + pdf.text(72, 30, f"Page {n} of 3 - X1")
        for n in (1, 2, 3)
    ]
    converted = convert(*pages)
    assert "Page" not in converted.markdown
    assert converted.facts["running_heads"] == "Page 1 of 3 - X1"


def test_a_foot_does_not_interrupt_the_sentence_that_runs_over_the_first_page_break():
    body = ["The margins of all segments were better than they had been in any of the years", "before the"]
    pages = [pdf.lines(72, 140, body), pdf.lines(72, 650, ["merger of the two groups."])]
    pages += [pdf.lines(72, 600, [f"What stands on sheet {n * n + 7}."]) for n in (2, 3)]
    feet = [pdf.text(72, 40, "ACME Holding plc", 9) + pdf.text(300, 25, n, 9) for n in ("i", "ii", "1", "2")]
    converted = convert(*map("".join, zip(pages, feet, strict=True)))
    assert "before the merger of the two groups." in converted.markdown
    assert converted.markdown.count("ACME") == 1
    assert converted.facts["page_numbers"] == "1: i, 2: ii, 3: 1, 4: 2"


def test_a_foot_with_a_roman_page_number_in_it_is_one_foot():
    pages = [
        pdf.lines(72, 600, [f"What stands on sheet {n}."]) + pdf.text(72, 30, f"ACME Holding plc {n}", 9)
        for n in ("i", "ii", "iii", "iv")
    ]
    assert convert(*pages).markdown.count("ACME") == 1


@pytest.mark.parametrize("form", ["{number} Chapter {chapter}. {title}", "{title} {number}"])
def test_running_lines_that_name_chapter_and_page_are_said_once_a_chapter(form):
    titles = ["On Beginnings", "Of Measures", "Working Together"]
    body = ["The text of every page goes on where the one before has ended, and it", "does not care for"]
    pages = []
    for number in range(1, 13):
        chapter = (number - 1) // 4
        foot = form.format(number=number + 2, chapter=chapter + 1, title=titles[chapter])
        pages.append(pdf.lines(72, 200, body) + pdf.text(72, 40, foot, 10))
    converted = convert(*pages)
    assert [converted.markdown.count(title) for title in titles] == [1, 1, 1]
    assert converted.facts["page_numbers"].startswith("1: 3, 2: 4, 3: 5")
    assert "#" not in converted.markdown


def test_a_running_head_that_is_not_on_the_first_page_is_said_once_and_interrupts_nothing():
    cover = pdf.text(72, 500, "Annual report", 20)
    body = ["margins of all segments were better than they had been in any of the years, and", "the"]
    pages = [pdf.text(72, 760, "ACME Holding plc", 9) + pdf.lines(72, 200, body) for _ in range(5)]
    converted = convert(cover, *pages)
    assert converted.markdown.count("ACME Holding plc") == 1
    assert "the margins of all segments" in converted.markdown


def test_a_note_stands_before_the_heading_of_a_paragraph_that_goes_on_overleaf():
    body = ["Revenue rose in all regions, as the demand for the goods", "of the group was strong, and the"]
    first = pdf.text(72, 170, "Outlook", 16) + pdf.lines(72, 140, body) + pdf.text(72, 80, "1 Unaudited.", 8)
    text = convert(first, pdf.lines(72, 700, ["margins were better than before."])).markdown
    assert text.index("Unaudited") < text.index("# Outlook") < text.index("Revenue rose")


def test_text_in_other_directions_does_not_interrupt_a_sentence():
    stamp = "BT /F1 9 Tf 0 1 -1 0 30 300 Tm (Approved for release) Tj ET\n"
    first = pdf.lines(
        72, 120, ["A first full sentence stands here. The second one", "runs on, page after page, in the"]
    )
    text = convert(stamp + first, pdf.lines(72, 700, ["same long and winding way."])).markdown
    assert "in the same long and winding way" in text
    assert "Approved for release" in text
