"""Tables of web pages, and what the pages of filings have besides."""

from __future__ import annotations

from web_pages import convert, markdown


def rows(html: str) -> list[list[str]]:
    lines = [line for line in markdown(html).split("\n") if line.startswith("|") and "---" not in line]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_spans_over_rows_are_filled_and_spans_over_columns_keep_the_grid():
    html = (
        "<table><tr><th>Region</th><th>Quarter</th><th>Sales</th></tr>"
        "<tr><td rowspan=2>North</td><td>Q1</td><td>1</td></tr><tr><td>Q2</td><td>2</td></tr>"
        "<tr><td colspan=2>Total</td><td>3</td></tr></table>"
    )
    assert rows(html) == [
        ["Region", "Quarter", "Sales"], ["North", "Q1", "1"], ["North", "Q2", "2"], ["Total", "", "3"],
    ]  # fmt: skip


def test_header_rows_are_joined_so_that_each_column_says_all():
    html = (
        "<table><thead><tr><th rowspan=2>Name</th><th colspan=2>Year</th></tr>"
        "<tr><th>2023</th><th>2024</th></tr></thead><tr><td>Pens</td><td>1</td><td>2</td></tr></table>"
    )
    assert rows(html) == [["Name", "Year 2023", "Year 2024"], ["Pens", "1", "2"]]


def test_columns_of_currency_signs_and_brackets_join_their_figures():
    html = (
        "<table><tr><td></td><td colspan=3>2024</td><td></td><td colspan=3>2023</td></tr>"
        "<tr><td>Revenue</td><td>$</td><td>10</td><td></td><td></td><td>$</td><td>9</td><td></td></tr>"
        "<tr><td>Loss</td><td></td><td>(5</td><td>)</td><td></td><td></td><td>(4</td><td>)</td></tr></table>"
    )
    assert rows(html) == [["", "2024", "2023"], ["Revenue", "$10", "$9"], ["Loss", "(5)", "(4)"]]


def test_a_title_row_stands_before_its_table():
    html = (
        "<table><tr><td colspan=2>Balance sheet</td></tr><tr><td>Item</td><td>2024</td></tr>"
        "<tr><td>Cash</td><td>5</td></tr></table>"
    )
    assert markdown(html).startswith("Balance sheet\n\n| Item | 2024 |")


def test_layout_tables_are_prose():
    bullets = "<table><tr><td>•</td><td>First point</td></tr><tr><td>•</td><td>Second point</td></tr></table>"
    assert markdown(bullets) == "- First point\n- Second point"
    letters = "<table><tr><td>(a)</td><td>One</td></tr><tr><td>(b)</td><td>Two</td></tr></table>"
    assert markdown(letters) == "(a) One\n\n(b) Two"
    column = "<table><tr><td>One</td></tr><tr><td>Two</td></tr></table>"
    assert markdown(column) == "One\n\nTwo"
    page = "<table><tr><td>" + "Long text. " * 200 + "</td><td><p>Side</p></td></tr></table>"
    assert "|" not in markdown(page)


def test_a_table_inside_a_layout_table_stays_a_table():
    inner = "<table><tr><td>Item</td><td>Price</td></tr><tr><td>Pen</td><td>2</td></tr></table>"
    html = f"<table><tr><td>x</td></tr><tr><td>{inner}</td></tr></table>"
    assert "| Item | Price |\n| --- | --- |\n| Pen | 2 |" in markdown(html)


def test_pipes_lists_and_paragraphs_in_cells():
    html = "<table><tr><td>a|b<td><ul><li>x<li>y</ul></tr><tr><td>c<td><p>1</p><p>2</p></tr></table>"
    assert rows(html) == [["a\\|b", "- x<br>- y"], ["c", "1<br>2"]]


def test_captions_stand_before_the_table():
    html = "<table><caption>Prices</caption><tr><td>a<td>b</tr><tr><td>c<td>d</tr></table>"
    assert markdown(html).startswith("Prices\n\n| a | b |")


def test_inline_xbrl_shows_its_facts_and_hides_its_header():
    html = (
        "<html xmlns:ix='x'><body><div style='display:none'><ix:header>no</ix:header></div>"
        "<ix:header><ix:hidden>nor</ix:hidden></ix:header>"
        "<p>Revenue was <ix:nonFraction name='r'>4,100</ix:nonFraction> million.</p></body></html>"
    )
    assert markdown(html) == "Revenue was 4,100 million."


def test_bold_items_of_filings_are_headings_and_other_bold_lines_are_not():
    html = (
        "<p><b>PART I</b></p><p style='font-weight:bold'>Item 1A. Risk Factors</p><p><b>Total</b></p>"
        "<p><b>Item 2.</b> refers to properties.</p>"
    )
    assert markdown(html) == "# PART I\n\n## Item 1A. Risk Factors\n\nTotal\n\nItem 2. refers to properties."


def test_the_wrapper_of_a_filing_archive_becomes_facts():
    head = "<DOCUMENT>\n<TYPE>EX-99.1\n<SEQUENCE>2\n<FILENAME>x.htm\n<TEXT>\n"
    html = f"{head}<html><body><p>Text</p></body></html>"
    result = convert(html)
    assert result.markdown == "Text\n"
    assert result.facts["filing_type"] == "EX-99.1"


def test_absurd_spans_are_bounded():
    html = "<table>" + "<tr><td colspan=100000 rowspan=100000>x<td>y</tr>" * 50 + "</table>"
    assert len(markdown(html)) < 100_000
