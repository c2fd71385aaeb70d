"""CSV files as the world writes them."""

from __future__ import annotations

import time

import pytest

from chunk_assets.converters.base import Limits, Options
from chunk_assets.converters.csv import CSV
from chunk_assets.errors import DocumentFailure


def rows(data: bytes | str) -> list[str]:
    raw = data.encode() if isinstance(data, str) else data
    return CSV.convert(raw, Options()).markdown.splitlines()


def table(data: bytes | str) -> list[list[str]]:
    lines = [line for line in rows(data) if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "---" not in line]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "^", "~"])
def test_the_delimiter_is_found(delimiter):
    lines = [["id", "name", "price"], ["1", "Pen", "1.20"], ["2", "Ink", "3.45"]]
    assert table("\n".join(delimiter.join(line) for line in lines)) == lines


def test_commas_inside_values_do_not_win_over_the_real_delimiter():
    data = "when;who;what\nMay 1, 2024;Ann, Bea;x\nMay 2, 2024;Cid, Dan;y\nJune 3, 2024;Eve;z\n"
    assert table(data)[1] == ["May 1, 2024", "Ann, Bea", "x"]


def test_decimal_commas_with_semicolons_stay_numbers():
    assert table("a;b\n1,5;2,25\n3,5;4,75\n")[2] == ["3,5", "4,75"]


def test_excel_can_name_the_delimiter_in_the_first_line():
    assert table("sep=;\na;b\n1;2\n") == [["a", "b"], ["1", "2"]]


def test_a_pipe_and_a_newline_in_a_cell_stay_in_their_record():
    assert rows('name,formula\nOR,A | B\nAND,"one\ntwo"\n')[2:] == [
        r"| OR | A \| B |",
        "| AND | one<br>two |",
    ]


def test_doubled_and_backslashed_quotes_are_characters():
    assert table('a,b\n1,"say ""hi"" now"\n')[1] == ["1", 'say "hi" now']
    data = "id,title,year\n" + "".join(f"{n},Part {n}\\, the end,19{n:02d}\n" for n in range(10, 30))
    assert table(data)[1] == ["10", "Part 10, the end", "1910"]


def test_single_quoted_cells_are_unquoted():
    data = "'name','place'\n'Ann','Oslo, Norway'\n'Bea','Rome, Italy'\n"
    assert table(data)[1] == ["Ann", "Oslo, Norway"]


def test_a_quote_that_is_never_closed_costs_only_its_line():
    data = 'a,b\n1,"open\n2,fine\n3,"also ""fine"""\n4,end\n'
    converted = CSV.convert(data.encode(), Options())
    assert [line for line in converted.markdown.splitlines() if "fine" in line] == [
        "| 2 | fine |",
        '| 3 | also "fine" |',
    ]
    assert any("not closed" in warning for warning in converted.warnings)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end_is_read(end):
    assert table(end.join(["a,b", "1,2", "3,4"])) == [["a", "b"], ["1", "2"], ["3", "4"]]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_the_encoding_is_found_and_its_mark_is_not_text(encoding):
    text = "naïve,café\n1,Füße über Straßen\n"
    assert table(text.encode(encoding))[0] == ["naïve", "café"]


def test_stray_zero_bytes_are_left_out_and_named():
    converted = CSV.convert(b"a,b,c\n\x00,2,3\n", Options())
    assert "| 2 | 3 |" in converted.markdown
    assert converted.warnings == ("1 zero bytes were left out",)


def test_titles_above_the_header_become_paragraphs():
    lines = rows(
        "Statement of account,,\nGenerated 2024-03-14,,\n,,\nDate,Text,Amount\n2024-03-01,Coffee,-3.50\n"
    )
    assert lines[:4] == ["Statement of account", "", "Generated 2024-03-14", ""]
    assert lines[4] == "| Date | Text | Amount |"


def test_a_file_without_a_header_gets_an_empty_one_so_that_no_row_is_taken_for_it():
    lines = rows("1,2.5,2024-01-01\n2,3.5,2024-01-02\n3,4.5,2024-01-03\n")
    assert lines[0].replace(" ", "") == "||||"
    assert "| 1 | 2.5 | 2024-01-01 |" in lines


def test_years_can_be_a_header():
    assert rows("Item,2022,2023\nRevenue,5,6\nCosts,3,4\n")[0] == "| Item | 2022 | 2023 |"


def test_remarks_above_the_header_are_no_header():
    lines = [line for line in rows("# made by hand\n# twice\na,b\n1,2\n") if line]
    assert lines == ["\\# made by hand", "\\# twice", "| a | b |", "| --- | --- |", "| 1 | 2 |"]
    assert rows("#id,name\n1,Ana\n2,Bo\n")[0] == "| #id | name |"


def test_ragged_rows_keep_every_cell():
    converted = CSV.convert(b"a,b,c\n1,27,,too long\n,too short\n0,x,17\n", Options())
    assert converted.markdown.splitlines()[0] == "| a | b | c |  |"
    assert "too long" in converted.markdown
    assert "too short" in converted.markdown
    assert "2 of 4 rows" in converted.warnings[0]


def test_one_column_is_a_table_of_one_column():
    assert rows("Industry\nAccounting/Finance\nRetail\n") == [
        "| Industry |",
        "| --- |",
        "| Accounting/Finance |",
        "| Retail |",
    ]


def test_a_cell_that_starts_with_an_equals_sign_is_text():
    assert "| =SUM(1+1) |" in CSV.convert(b"a,b\n1,=SUM(1+1)\n", Options()).markdown.replace("| 1 |", "|")


def test_blank_rows_are_left_out():
    assert table("id,name\n1,Ann\n,\n,\n2,Bea\n") == [["id", "name"], ["1", "Ann"], ["2", "Bea"]]


def test_a_very_long_cell_is_kept_whole():
    word = "long " * 60_000
    assert word.strip() in CSV.convert(f'a,b\n1,"{word}"\n'.encode(), Options()).markdown


@pytest.mark.parametrize("data", [b"\n\n  \n", b",,\n,,\n", b"\xef\xbb\xbf"])
def test_nothing_but_blanks_is_empty(data):
    with pytest.raises(DocumentFailure) as failure:
        CSV.convert(data, Options())
    assert failure.value.status == "empty"


def test_output_over_the_limit_is_refused():
    with pytest.raises(DocumentFailure, match="too_large"):
        CSV.convert(b"a,b\n" + b"1,2\n" * 10_000, Options(limits=Limits(max_output_chars=10_000)))


def test_one_very_wide_row_does_not_widen_all_others():
    data = "a,b\n" + "1,2\n" * 3_000 + ",".join("x" * 20_000) + "\n"
    assert len(CSV.convert(data.encode(), Options()).markdown) < 1_000_000


def test_time_grows_in_proportion_to_the_rows():
    def seconds(count: int) -> float:
        data = "".join(f'{n},"name {n}",{n * 1.5},"a ""quoted"" word"\n' for n in range(count)).encode()
        started = time.process_time()
        CSV.convert(data, Options())
        return time.process_time() - started

    seconds(100)
    assert seconds(40_000) < 12 * max(seconds(10_000), 0.02)


def test_a_million_quotes_are_no_trap():
    started = time.process_time()
    CSV.convert(b'"' * 1_000_001, Options())
    CSV.convert(b'a,"b\n' * 50_000, Options())
    assert time.process_time() - started < 20
