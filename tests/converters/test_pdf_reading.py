"""Text of PDFs: reading order, joined words, letters and figures."""

from __future__ import annotations

import unicodedata

import pdf_building as pdf
import pytest
from pdf_building import convert

from chunk_assets.converters.base import Options
from chunk_assets.converters.pdf import PDF
from chunk_assets.converters.pdf.joining import join_lines

LEFT = [
    "The committee reviewed the annual report",
    "and approved the budget for the coming",
    "fiscal year without any further change.",
    "Members thanked the treasurer at length.",
]
RIGHT = [
    "In the second half of the year turnover",
    "rose by four per cent, helped by a mild",
    "winter and by lower prices for energy in",
    "all of the markets that we operate in.",
]


def test_columns_are_read_one_after_the_other():
    content = pdf.lines(72, 700, LEFT) + pdf.lines(330, 700, RIGHT)
    text = " ".join(convert(content).markdown.split())
    assert " ".join(LEFT) in text
    assert " ".join(RIGHT) in text
    assert text.index(LEFT[3]) < text.index(RIGHT[0])


def test_columns_written_line_by_line_across_are_read_one_after_the_other():
    content = ""
    for index, (left, right) in enumerate(zip(LEFT, RIGHT, strict=True)):
        content += pdf.text(72, 700 - 13 * index, left) + pdf.text(330, 700 - 13 * index, right)
    text = " ".join(convert(content).markdown.split())
    assert " ".join(LEFT) in text
    assert " ".join(RIGHT) in text


def test_labels_with_longer_texts_beside_them_are_read_row_by_row():
    labels = ["int", "void", "char", "Node", "long", "void"]
    texts = [f"open_the_file_of_kind_{name}(const char *name, int mode, void *rest);" for name in "abcdef"]
    content = ""
    for at, row in enumerate(zip(labels, texts, strict=True)):
        content += pdf.text(72, 700 - 14 * at, row[0]) + pdf.text(140, 700 - 14 * at, row[1])
    words = convert(content).markdown.replace("|", " ").replace("\\", "").split()
    assert words.index("Node") < words.index("open_the_file_of_kind_d(const") < words.index("long")


def test_a_title_over_two_columns_comes_first():
    content = ""
    for index, (left, right) in enumerate(zip(LEFT, RIGHT, strict=True)):
        content += pdf.text(72, 660 - 13 * index, left) + pdf.text(330, 660 - 13 * index, right)
    content += pdf.text(72, 700, "Interim management report of the supervisory board", 20)
    assert convert(content).markdown.startswith("# Interim management report of the supervisory board\n\n")


def test_fonts_with_a_scale_of_their_own_are_as_large_as_they_are_drawn():
    page = "q 0.1 0 0 0.1 0 0 cm BT /F5 1 Tf 720 7000 Td (Interest) Tj ET Q " + pdf.text(72, 600, "is paid")
    converted = convert(page)
    assert "Interest" in converted.markdown
    assert converted.warnings == ()


def test_ligatures_of_fonts_without_unicode_values_are_letters():
    page = "q 0.1 0 0 0.1 0 0 cm BT /F5 1 Tf 720 7000 Td (di\\013erent speci\\014c o\\016cial) Tj ET Q"
    assert "different specific official" in convert(page).markdown


def test_text_that_runs_to_the_left_is_read_from_right_to_left_though_its_words_stand_far_apart():
    # Drawn letter by letter from the left, so each word is written from its end.
    rows = [[("cba", 500), ("fed", 440), ("ihg", 300)], [("rqp onm lkj", 450)]]
    content = "".join(
        pdf.text(x, 700 - 13 * at, word, font="F4") for at, row in enumerate(rows) for word, x in row
    )
    text = convert(content).markdown.translate({0x5D0 + n: 97 + n for n in range(26)})
    assert text.split() == ["abc", "def", "ghi", "jkl", "mno", "pqr"]


@pytest.mark.parametrize("turn", ["0 1 -1 0 500 100", "0 -1 1 0 100 700", "-1 0 0 -1 560 700"])
def test_text_that_is_turned_on_the_page_is_read_upright(turn: str):
    content = f"q {turn} cm " + pdf.lines(0, 0, LEFT) + "Q"
    assert " ".join(convert(content).markdown.split()) == " ".join(LEFT)


def test_a_turned_page_is_read_like_an_upright_one():
    content = pdf.lines(72, 700, LEFT)
    assert convert(content, rotate=90).markdown == convert(content).markdown


def test_words_broken_at_a_line_end_are_joined():
    rows = [
        "The auditor issued an unquali-",
        "fied opinion on the state-of-the-",
        "art plant that was built in 2023.",
    ]
    text = convert(pdf.lines(72, 700, rows)).markdown
    assert "an unqualified opinion on the state-of-the-art plant" in text


@pytest.mark.parametrize(
    ("rows", "joined"),
    [
        (["infor-", "mation"], "information"),
        (["evidence-", "based practice"], "evidence-based practice"),
        (["pages 10-", "20 of it"], "pages 10-20 of it"),
        (["a dash -", "like this"], "a dash - like this"),
        (["Boeing 737–", "9 airplanes"], "Boeing 737–9 airplanes"),
        (["the end—", "such as it is"], "the end—such as it is"),
        (["the Anglo-", "Saxon world"], "the Anglo-Saxon world"),
        (["中文", "文字"], "中文文字"),
        (["two", "words"], "two words"),
    ],
)
def test_lines_join_as_a_reader_would_say_them(rows: list[str], joined: str):
    assert join_lines(rows, {"evidence", "based", "information"}) == joined


def test_long_paragraphs_join_in_linear_time_without_losing_a_word():
    rows = [f"word{index} and more" for index in range(20_000)]
    assert join_lines(rows).split() == " ".join(rows).split()


def test_letters_spaced_out_are_put_together():
    spaced = "BT /F1 12 Tf 2.4 Tc 72 700 Td (Here is some formatted text in wide letters) Tj ET\n"
    assert convert(spaced).markdown == "Here is some formatted text in wide letters"


@pytest.mark.parametrize(
    ("capital", "rest", "read"),
    [
        ("T", "he company was", "The company was"),
        ("I", "t was", "It was"),
        ("A", "company was", "A company was"),
    ],
)
def test_a_dropped_capital_belongs_to_its_word(capital, rest, read):
    beside = [f"{rest} founded in the year of the great flood, and has", "sold pumps ever since to mines"]
    content = pdf.text(72, 660, capital, 44) + pdf.lines(104, 690, [*beside, "and to towns."], 11, 14)
    text = convert(content + pdf.lines(72, 600, ["Another paragraph follows after that."])).markdown
    assert text.startswith(f"{read} founded in the year of the great flood, and has sold pumps")
    assert "#" not in text


@pytest.mark.parametrize(
    ("base", "mark", "rest", "read"),
    [
        ("Prices rose by $23.81", "2", " on average.", "$23.81² on average."),
        ("It was sold at $23.81", "2", ".", "$23.81²."),
        ("There were 10", "6", " cases.", "10⁶ cases."),
        ("A flux of 4.2 s", "-1", " was measured.", "4.2 s⁻¹ was measured."),
    ],
)
def test_raised_figures_are_not_read_with_the_figures_they_follow(base, mark, rest, read):
    content = f"BT /F1 11 Tf 72 700 Td ({base}) Tj /F1 7 Tf 4 Ts ({mark}) Tj /F1 11 Tf 0 Ts ({rest}) Tj ET\n"
    assert read in convert(content + pdf.lines(72, 600, ["Some other text of the page."])).markdown


def test_raised_figures_on_a_turned_page_are_seen_too():
    content = "BT /F1 11 Tf 0 1 -1 0 300 72 Tm (It was sold at $23.81) Tj /F1 7 Tf 4 Ts (2) Tj ET\n"
    assert "$23.81²" in convert(content).markdown


def test_small_figures_on_the_line_are_not_raised():
    content = "BT /F1 11 Tf 72 700 Td (Water is H) Tj /F1 8 Tf (2) Tj /F1 11 Tf (O here) Tj ET\n"
    assert "H2O" in convert(content).markdown


def test_lines_that_end_on_purpose_stay_apart():
    rows = [
        "ACME Ltd",
        "12 Harbour Road",
        "Bristol BS1 4QA",
        "Registered in England under the number 0123456 since 1987",
    ]
    assert convert(pdf.lines(72, 700, rows)).markdown.split("\n\n") == rows


def test_text_is_normalised_and_free_of_control_characters():
    text = convert(pdf.text(72, 700, "Caf\xe9 \x03 na\xefve \x1f end")).markdown
    assert text == unicodedata.normalize("NFC", text)
    assert all(char == "\n" or unicodedata.category(char) != "Cc" for char in text)


def test_the_same_bytes_give_the_same_text():
    data = pdf.build([pdf.lines(72, 700, LEFT) + pdf.table(72, 500, [["a", "1"], ["b", "2"], ["c", "3"]])])
    assert PDF.convert(data, Options()) == PDF.convert(data, Options())
