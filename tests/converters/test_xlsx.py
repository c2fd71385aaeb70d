"""Workbooks as people make them: sheets, tables, values as shown."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from datetime import time as clock

import openpyxl
import pytest
from openpyxl.styles import Font
from workbooks import convert, lines, one_sheet, patched, raw_sheet, saved

from chunk_assets.converters.xlsx.dates import date_text, is_date_format
from chunk_assets.converters.xlsx.numbers import general, renderer

# -- sheets ------------------------------------------------------------------------------------------


def test_every_sheet_is_a_section_with_its_name():
    book = one_sheet(["a", "b"], [1, 2])
    book.create_sheet("Costs | 2024").append(["c", "d"])
    assert [line for line in lines(book) if line.startswith("#")] == ["## Sheet", "## Costs | 2024"]


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_a_hidden_sheet_is_converted_and_named_hidden(state):
    book = one_sheet(["a", "b"], [1, 2])
    secret = book.create_sheet("Salaries")
    secret.append(["Ann", 100])
    secret.sheet_state = state
    converted = convert(book)
    assert "## Salaries (hidden)" in converted.markdown
    assert "Ann" in converted.markdown
    assert "sheet 'Salaries' is hidden" in converted.warnings


def test_hidden_rows_and_columns_are_converted_and_named():
    book = one_sheet(["a", "b", "c"], [1, 2, 3], [4, 5, 6], [7, 8, 9])
    book.active.row_dimensions[3].hidden = True
    book.active.column_dimensions["B"].hidden = True
    converted = convert(book)
    assert "| 4 | 5 | 6 |" in converted.markdown
    assert converted.warnings == ("sheet 'Sheet': hidden rows 3", "sheet 'Sheet': hidden columns 2")


def test_a_workbook_without_cells_keeps_its_sheet_names_and_says_so():
    converted = convert(openpyxl.Workbook())
    assert (converted.markdown, converted.status) == ("## Sheet\n", "ok")
    assert converted.warnings == ("1 of 1 sheets have no cells with text",)


def test_properties_are_facts_and_not_text():
    book = one_sheet(["a", "b"], [1, 2])
    book.properties.title, book.properties.creator = "Plan & budget", "Ann"
    converted = convert(book)
    assert (converted.facts["title"], converted.facts["author"]) == ("Plan & budget", "Ann")
    assert "Plan" not in converted.markdown


# -- tables ------------------------------------------------------------------------------------------


def test_titles_stand_above_the_table_and_the_header_below_them_is_found():
    book = one_sheet(
        ["PROGRESS"], [], ["Task", None, "Owner"], ["Design", None, "Ana"], ["Build", None, "Bo"]
    )
    assert lines(book)[2:] == [
        "PROGRESS",
        "",
        "| Task | Owner |",
        "| --- | --- |",
        "| Design | Ana |",
        "| Build | Bo |",
    ]


def test_two_tables_below_each_other_keep_their_own_headers():
    book = one_sheet(["a", "b"], ["x", 1], [], ["Name", "City"], ["Ann", "Oslo"])
    assert [line for line in lines(book) if line == "| --- | --- |"] == ["| --- | --- |"] * 2


def test_two_tables_side_by_side_are_told_apart():
    left, right = ["Item", "Cost"], ["Name", "Age"]
    book = one_sheet([*left, None, *right], ["Pen", 1, None, "Ann", 30], ["Ink", 2, None, "Bo", 40])
    text = convert(book).markdown
    assert "| Item | Cost |" in text
    assert "| Ann | 30 |" in text


def test_a_blank_column_inside_a_table_does_not_tear_its_rows():
    book = one_sheet(["Item", "2022", None, 2023, 2024], ["Revenue", 5, None, 6, 7], ["Costs", 3, None, 4, 5])
    assert "| Revenue | 5 | 6 | 7 |" in lines(book)


def test_rows_after_a_blank_row_go_on_under_the_same_header():
    book = one_sheet(["name", "count"], ["v1", 1], ["v2", 2], [], [], ["v3", 3], ["v4", 4])
    assert lines(book)[2:] == ["| name | count |", "| --- | --- |", *(f"| v{n} | {n} |" for n in range(1, 5))]


def test_a_value_merged_over_rows_is_carried_down():
    book = one_sheet(["Region", "Quarter", "Sales"], ["North", "Q1", 10], [None, "Q2", 20], [None, "Q3", 30])
    book.active.merge_cells("A2:A4")
    assert "| North | Q3 | 30 |" in lines(book)


def test_a_header_of_two_rows_becomes_one_name_for_each_column():
    book = one_sheet(["Region", "Sales", None], [None, 2022, 2023], ["North", 5, 6], ["South", 7, 8])
    book.active.merge_cells("A1:A2")
    book.active.merge_cells("B1:C1")
    assert lines(book)[2] == "| Region | Sales 2022 | Sales 2023 |"


def test_a_title_merged_over_the_whole_width_is_written_once():
    book = one_sheet(["Sales 2024", None, None], ["a", "b", "c"], [1, 2, 3])
    book.active.merge_cells("A1:C1")
    assert convert(book).markdown.count("Sales 2024") == 1


def test_a_figure_merged_over_columns_is_written_once():
    book = one_sheet(["Item", "Total", None, None], ["Rent", 2336, None, None], ["Food", 5, 6, 7])
    book.active.merge_cells("B2:D2")
    assert "| Rent | 2336 |  |  |" in lines(book)


def test_a_row_of_labels_above_a_table_is_its_caption():
    book = one_sheet(["FULL RATE", "MARRIED"], [], ["Year", 2022, 2023], ["Rate", 5, 6])
    assert lines(book)[2:5] == ["FULL RATE · MARRIED", "", "| Year | 2022 | 2023 |"]


def test_a_title_that_looks_like_markup_stays_text():
    book = one_sheet(["# No heading"], ["- no list | no table"], ["a", "b"], ["c", 1])
    assert lines(book)[2:5] == ["\\# No heading", "", "- no list \\| no table"]


def test_tables_that_touch_at_one_corner_are_told_apart():
    rows = [["a", "b"], ["x", 1], ["y", 2], [None, None, None, "c", "d"], [None, None, None, 5, 6]]
    text = convert(one_sheet(*rows, [None, None, None, 7, 8])).markdown
    assert "| c | d |" in text
    assert "| y | 2 |" in text


def test_figures_without_a_header_are_not_taken_for_one():
    assert "| 1 | 2 | 3 |" in lines(one_sheet([1, 2, 3], [4, 5, 6], [7, 8, 9]))[4:]


def test_pipes_and_newlines_stay_in_their_cell():
    assert lines(one_sheet(["a", "b"], ["x|y", "one\ntwo"]))[4] == r"| x\|y | one<br>two |"


# -- values ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (0.125, "0.0%", "12.5%"),
        (0.5, "0%", "50%"),
        (1234567.891, "#,##0.00", "1,234,567.89"),
        (2500, '"$"#,##0.00', "$2500.00"),
        (15000, "#,##0", "15000"),
        (-1234.5, "#,##0.00_);(#,##0.00)", "(1234.50)"),
        (1234.5, "[$€-407] #,##0.00", "€ 1234.50"),
        (1234.5, "#,##0.00 [$kr-414]", "1234.50 kr"),
        (12.3, "000.00", "012.30"),
        (0.0000125, "0.00E+00", "1.25E-05"),
        (1.25, "# ?/?", "1 1/4"),
        (1234567, '0.0,,"M"', "1.2M"),
        (25.4, '0.00"°"', "25.40°"),
        (2.5, "0", "3"),
        (0.285, "0.00", "0.29"),
        (1000.5577, "0.0000#", "1000.5577"),
        (5, '[>=10]"many";[<10]"few"', "few"),
        (0, '#,##0;-#,##0;"-"', "-"),
        (-5, "0;0", "5"),
        (42, ";;;", "42"),
        (3.0, "General", "3"),
        (0.1 + 0.2, "General", "0.3"),
        (1e-7, "General", "1E-07"),
        (date(2024, 3, 14), "d-mmm-yy", "2024-03-14"),
        (datetime.fromisoformat("2024-03-14T09:30"), "m/d/yy h:mm", "2024-03-14 09:30:00"),
        (clock(14, 5), "h:mm AM/PM", "14:05:00"),
        (timedelta(hours=30, minutes=5), "[h]:mm:ss", "30:05:00"),
        (True, "General", "TRUE"),
        ("=SUM(1)", "@", "=SUM(1)"),
    ],
)
def test_a_value_reads_as_its_cell_shows_it(value, code, shown):
    book = one_sheet(["name", "value"], ["x", None])
    cell = book.active["B2"]
    cell.value = value
    if isinstance(value, str):
        cell.data_type = "s"
    cell.number_format = code
    assert lines(book)[4] == f"| x | {shown} |"


def test_dates_of_the_1904_calendar_are_right():
    book = one_sheet(["when", "what"], [date(2016, 10, 3), "x"])
    book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    assert "2016-10-03" in convert(book).markdown


@pytest.mark.parametrize(("serial", "expected"), [(1, "1900-01-01"), (59, "1900-02-28"), (61, "1900-03-01")])
def test_the_first_days_of_1900_are_counted_as_spreadsheets_do(serial, expected):
    assert date_text(serial, "yyyy-mm-dd", date1904=False) == expected


@pytest.mark.parametrize(
    "code", ["[Red]0.00", "General", '0 "days"', "#,##0.00_);[Red](#,##0.00)", "0.00E+00", "@"]
)
def test_number_formats_are_no_dates(code):
    assert not is_date_format(code)


@pytest.mark.parametrize("code", ["d.m.yy", "[$-409]mmmm d, yyyy;@", "h:mm", "yyyy", "mm:ss.0", "[h]:mm"])
def test_date_formats_are_dates(code):
    assert is_date_format(code)


@pytest.mark.parametrize(
    "code", ["", ";", '"', "[", "\\", "_", "0.0.0", "%%%", "[>]0", "E+", "?/", "0" * 500, "[$]"]
)
def test_malformed_formats_still_show_the_number(code):
    render = renderer(code)
    assert (render(12.5) if render else general(12.5)).strip()


def test_errors_are_shown():
    body = '<row r="1"><c r="A1" t="e"><v>#DIV/0!</v></c><c r="B1" t="e"><v>#N/A</v></c></row>'
    assert "#DIV/0!" in convert(raw_sheet(body)).markdown


def test_formulas_are_their_stored_values():
    body = (
        '<row r="1"><c r="A1"><f>1+2</f><v>3</v></c><c r="B1" t="str"><f>"a"&amp;"b"</f><v>ab</v></c></row>'
    )
    assert "| 3 | ab |" in convert(raw_sheet(body)).markdown


def test_a_formula_without_a_stored_value_is_shown_and_named():
    converted = convert(one_sheet(["item", "value"], ["tax", 7], ["sum", "=SUM(B2:B2)"]))
    assert "| sum | =SUM(B2:B2) |" in converted.markdown
    assert converted.warnings == ("sheet 'Sheet': 1 formulas without a stored value (B3)",)


def test_rich_text_is_joined_and_readings_are_left_out():
    strings = "<si><r><t>To</t></r><r><t>kyo</t></r><rPh sb='0' eb='1'><t>reading</t></rPh></si>"
    text = convert(raw_sheet('<row r="1"><c r="A1" t="s"><v>0</v></c></row>', strings)).markdown
    assert "Tokyo" in text
    assert "reading" not in text


def test_escaped_control_characters_leave_no_trace():
    strings = "<si><t>ABC_x000D_\nDEF_x0007_</t></si>"
    text = convert(raw_sheet('<row r="1"><c r="A1" t="s"><v>0</v></c></row>', strings)).markdown
    assert "ABC<br>DEF" in text
    assert "_x0" not in text


def test_bold_or_not_makes_no_difference():
    book = one_sheet(["a", "b"], ["c", 2])
    plain = convert(book).markdown
    book.active["A1"].font = Font(bold=True)
    assert convert(book).markdown == plain


# -- beside the cells --------------------------------------------------------------------------------

DRAWING = (
    '<xdr:wsDr xmlns:xdr="x" xmlns:a="a"><xdr:sp><xdr:txBody><a:p><a:r><a:t>Figures are </a:t></a:r>'
    "<a:r><a:t>preliminary &amp; unaudited</a:t></a:r></a:p></xdr:txBody></xdr:sp></xdr:wsDr>"
)


def with_relation(data: bytes, target: str, body: str) -> bytes:
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="rId1" Type="t" Target="../{target}"/></Relationships>'
    )
    data = patched(data, "xl/worksheets/_rels/sheet1.xml.rels", lambda _: relations.encode())
    return patched(data, f"xl/{target}", lambda _: body.encode())


def test_text_boxes_stand_below_the_tables():
    data = with_relation(saved(one_sheet(["a", "b"], [1, 2])), "drawings/drawing1.xml", DRAWING)
    assert lines(data)[-2:] == ["", "Figures are preliminary & unaudited"]


def test_comments_are_counted_and_left_out():
    body = "<comments><comment ref='A1'><text><t>wrong!</t></text></comment></comments>"
    converted = convert(with_relation(saved(one_sheet(["a", "b"], [1, 2])), "comments1.xml", body))
    assert converted.facts["comments"] == "1"
    assert "wrong" not in converted.markdown


def test_a_damaged_drawing_costs_only_itself():
    data = with_relation(saved(one_sheet(["a", "b"], [1, 2])), "drawings/drawing1.xml", "<xdr:wsDr><broken")
    assert convert(data).status == "ok"
