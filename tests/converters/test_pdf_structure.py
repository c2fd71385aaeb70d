"""Headings, lists, tables and code of PDFs."""

from __future__ import annotations

import time

import pdf_building as pdf

from chunk_assets.converters.base import Options
from chunk_assets.converters.pdf import PDF

BODY = [
    "Revenue grew by four per cent to 120 million, and the order book",
    "stood at its highest level for ten years at the end of the period.",
    "The board proposes a dividend of 12 pence a share for the year.",
]


def markdown(*pages: str, outline: tuple[tuple[str, int], ...] = ()) -> str:
    return PDF.convert(pdf.build(pages, outline=outline), Options()).markdown


def rows_of(text: str) -> list[list[str]]:
    rows = [line for line in text.split("\n") if line.startswith("|") and "---" not in line]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_heading_levels_follow_size_and_weight():
    content = (
        pdf.text(72, 740, "Annual report", 24)
        + pdf.lines(72, 710, BODY)
        + pdf.text(72, 640, "Business review", 16)
        + pdf.lines(72, 615, BODY)
        + pdf.text(72, 550, "Retail segment", 11, "F2")
        + pdf.lines(72, 530, BODY)
    )
    headings = [line for line in markdown(content).split("\n") if line.startswith("#")]
    assert headings == ["# Annual report", "## Business review", "### Retail segment"]


def test_the_outline_gives_headings_and_levels():
    content = pdf.text(72, 740, "Scope of the agreement") + pdf.lines(72, 700, BODY)
    assert markdown(content).startswith("Scope of the agreement\n")
    assert markdown(content, outline=(("Scope of the agreement", 0),)).startswith(
        "# Scope of the agreement\n"
    )


def test_a_large_sentence_is_no_heading():
    quote = [
        "We believe that a large pull quote like this one",
        "is prose and no heading, whatever its size may be.",
    ]
    content = pdf.lines(72, 740, quote, 18, 22) + pdf.lines(72, 600, BODY * 3)
    assert "#" not in markdown(content)


def test_captions_are_no_headings():
    content = pdf.text(72, 740, "Table 3: Segments", 11, "F2") + pdf.lines(72, 700, BODY)
    assert "#" not in markdown(content)


def test_bullets_and_numbers_become_markdown_lists():
    bullets = pdf.lines(
        72, 700, ["\x95 Interest rate risk", "\x95 Currency risk of all the group's", "\x95 Credit risk"]
    )
    numbers = pdf.lines(72, 600, ["1. First step", "2. Second step"])
    text = markdown(bullets + numbers)
    assert "- Interest rate risk\n- Currency risk of all the group's\n- Credit risk" in text
    assert "1. First step\n2. Second step" in text


def test_items_that_stand_farther_right_are_inside_the_item_above():
    places = [
        (72, "1. The rent"),
        (90, "\x95 is due monthly"),
        (108, "\x95 in advance"),
        (90, "\x95 is fixed"),
        (72, "2. The term"),
    ]
    content = "".join(pdf.text(x, 700 - 14 * row, words) for row, (x, words) in enumerate(places))
    assert (
        markdown(content) == "1. The rent\n   - is due monthly\n     - in advance\n   - is fixed\n2. The term"
    )


def test_bullets_written_apart_from_their_texts_are_put_before_them():
    bullets = pdf.lines(72, 700, ["\x95", "\x95", "\x95"], leading=20)
    text = markdown(bullets + pdf.lines(90, 700, ["Design", "Prototype", "Validation"], leading=20))
    assert text == "- Design\n- Prototype\n- Validation"


def test_an_indented_bullet_runs_on_at_the_margin_only_from_a_full_line():
    content = pdf.text(90, 700, "\x95 Mail: the Department of Transport, Docket")
    content += pdf.lines(
        72,
        687,
        ["Operations, West Building, Ground Floor, Room", "W12-140, to be handed in by noon of that day."],
    )
    assert markdown(content).count("\n") == 0
    content = pdf.text(90, 700, "\x95 Design") + pdf.lines(
        72, 687, ["The next paragraph starts at the margin and", *BODY]
    )
    assert markdown(content).startswith("- Design\n\nThe next paragraph")


def test_a_ruled_table_is_a_pipe_table_and_stands_once():
    rows = [["Segment", "2022", "2023"], ["Retail", "10.0", "11.0"], ["Total", "20.0", "21.5"]]
    text = markdown(
        pdf.lines(72, 740, BODY) + pdf.table(72, 650, rows) + pdf.text(72, 560, "After the table.")
    )
    assert rows_of(text) == rows
    assert text.count("21.5") == 1
    assert text.index("dividend") < text.index("| Segment") < text.index("After the table.")


def test_cells_of_several_lines_are_one_cell():
    content = pdf.grid([72, 172, 372], [700, 660, 640])
    content += pdf.text(76, 685, "Term") + pdf.lines(
        176, 685, ["The loan ends after five", "years at the latest"]
    )
    content += pdf.text(76, 645, "Rate") + pdf.text(176, 645, "4.5 %")
    assert ["Term", "The loan ends after five years at the latest"] in rows_of(markdown(content))


def test_a_merged_cell_keeps_its_text_once_and_the_columns_in_place():
    content = pdf.grid([72, 162, 252, 342], [682, 664, 646])
    content += pdf.rule(72, 700, 342, 700) + "".join(pdf.rule(x, 700, x, 682) for x in (72, 162, 342))
    content += pdf.text(200, 687, "Year ended") + pdf.text(166, 669, "2022") + pdf.text(256, 669, "2023")
    content += pdf.text(76, 651, "Sales") + pdf.text(166, 651, "10.0") + pdf.text(256, 651, "11.0")
    rows = rows_of(markdown(content))
    assert rows == [["", "Year ended", ""], ["", "2022", "2023"], ["Sales", "10.0", "11.0"]]


def test_one_drawn_row_with_aligned_lines_is_several_rows():
    content = pdf.grid([72, 172, 272], [700, 680, 620])
    content += pdf.text(76, 685, "Month") + pdf.text(176, 685, "Units")
    content += pdf.lines(76, 665, ["January", "February", "March"], leading=15)
    content += pdf.lines(176, 665, ["10", "20", "30"], leading=15)
    assert rows_of(markdown(content))[1:] == [["January", "10"], ["February", "20"], ["March", "30"]]


def test_a_table_without_rules_is_found_by_its_columns():
    rows = [["Account", "Debit", "Credit"]] + [[f"AC{n:03}", f"{n}.00", f"{2 * n}.50"] for n in range(1, 9)]
    content = "".join(
        pdf.text(72 + 150 * column, 700 - 15 * row, cell)
        for row, cells in enumerate(rows)
        for column, cell in enumerate(cells)
    )
    assert rows_of(markdown(content)) == rows


def test_a_table_over_a_page_break_is_one_table_with_one_header():
    first = [["Account", "Debit"]] + [[f"AC{n:03}", f"{n}.00"] for n in range(20)]
    second = [["Account", "Debit"]] + [[f"AC{n:03}", f"{n}.00"] for n in range(20, 30)]
    converted = PDF.convert(pdf.build([pdf.table(72, 740, first), pdf.table(72, 740, second)]), Options())
    assert rows_of(converted.markdown) == first + second[1:]
    page = converted.pages[1]
    assert rows_of(converted.markdown[page.start : page.end]) == second[1:]


def test_two_tables_on_a_page_stay_two():
    content = pdf.table(72, 740, [["Name", "Age"], ["Novak", "3"]]) + pdf.text(72, 640, "Changes")
    content += pdf.table(72, 600, [["Class", "Hour", "Subject"], ["2A", "1", "Maths"]])
    text = markdown(content)
    assert text.count("\n| --- ") == 2
    assert text.index("Novak") < text.index("Changes") < text.index("Maths")


def test_a_frame_round_prose_is_no_table():
    content = pdf.grid([60, 560], [760, 600]) + pdf.lines(72, 740, BODY)
    text = markdown(content)
    assert "|" not in text
    assert " ".join(BODY) in text


def test_columns_of_prose_are_no_table():
    left = ["Markets were calm in", "the first months of", "the year but became", "lively after summer"]
    right = ["and our clients then", "asked for more cover", "than we had expected", "at the start of it"]
    content = "".join(
        pdf.text(72, 700 - 13 * row, one) + pdf.text(250, 700 - 13 * row, other)
        for row, (one, other) in enumerate(zip(left, right, strict=True))
    )
    assert "|" not in markdown(content)


def test_pipes_in_cells_are_escaped():
    text = markdown(pdf.table(72, 700, [["Command", "Use"], ["a | b", "pipe"], ["c", "plain"]]))
    assert "| a \\| b | pipe |" in text


def test_markup_characters_are_escaped_only_where_they_would_count():
    text = markdown(pdf.lines(72, 700, ["# no heading", "5 * 3 = 15 and a_b_c, <b>not bold</b>"], leading=40))
    assert "\\# no heading" in text
    assert "5 * 3 = 15 and a_b_c, \\<b>not bold\\</b>" in text


def test_code_in_fixed_pitch_keeps_its_lines_and_indents():
    code = pdf.text(72, 600, "def add(a, b):", 10, "F3") + pdf.text(96, 588, "return a + b", 10, "F3")
    text = markdown(pdf.lines(72, 700, BODY * 2) + code)
    assert "```\ndef add(a, b):\n    return a + b\n```" in text


def test_entries_of_a_table_of_contents_keep_their_lines():
    rows = ["1 Business review ........................ 3", "2 Risk factors ............................ 17"]
    assert markdown(pdf.lines(72, 700, rows)) == "1 Business review … 3\n\n2 Risk factors … 17"


def test_pages_full_of_vectors_take_bounded_time():
    chart = "".join(pdf.rule(50 + n % 500, 100 + n % 600, 51 + n % 480, 130 + n % 570) for n in range(30_000))
    cells = pdf.grid([40 + 6 * n for n in range(90)], [60 + 8 * n for n in range(80)])
    started = time.process_time()
    text = markdown(chart + pdf.text(72, 740, "Chart page"), cells + pdf.text(72, 760, "Tiny cells"))
    assert time.process_time() - started < 5
    assert "Chart page" in text
    assert "Tiny cells" in text


def test_bullets_far_from_their_texts_are_no_column_of_the_table_below():
    content = ""
    for at, item in enumerate(["Interest is paid monthly", "Fees are due in March", "Nothing else is owed"]):
        content += pdf.text(72, 700 - 16 * at, "\x95") + pdf.text(92, 700 - 16 * at, item)
    for at, row in enumerate([("Year", "2022", "2023"), ("Net sales", "110", "120"), ("Costs", "70", "75")]):
        y = 640 - 16 * at
        content += "".join(pdf.text(x, y, cell) for x, cell in zip((92, 250, 350), row, strict=True))
    text = markdown(content)
    assert text.startswith("- Interest is paid monthly\n- Fees are due in March\n- Nothing else is owed")
    assert "| Net sales | 110 | 120 |" in text


def test_the_last_cell_of_an_open_table_keeps_its_second_line():
    content = pdf.text(72, 716, "Item") + pdf.text(150, 716, "Note") + pdf.text(400, 716, "Amount")
    for at in range(4):
        y = 696 - 30 * at
        content += pdf.text(72, y, f"Item {at}") + pdf.text(400, y, str(100 * at))
        content += pdf.lines(150, y, ["A long note that goes on", "in the next line"], leading=12)
    assert "| Item 3 | A long note that goes on in the next line | 300 |" in markdown(content)


def test_tables_in_columns_of_a_page_are_not_read_across():
    content = ""
    for left, name in ((40, "Loans"), (320, "Deposits")):
        content += pdf.text(left, 720, f"{name} by year of the group")
        for at in range(9):
            y = 700 - 16 * at
            content += pdf.text(left, y, f"{name} {2010 + at}") + pdf.text(left + 150, y, f"{at}5.0")
    text = markdown(content)
    assert "| Loans 2012 | 25.0 |\n" in text
    assert text.index("Loans 2018") < text.index("Deposits by year") < text.index("Deposits 2010")
