"""Numbers as a cell shows them, by the number formats of ECMA-376 part 1, 18.8.30 and 18.8.31.

Two departures, both for retrieval: dates and times are always ISO 8601, since what a cell shows
depends on the reader's country; and grouping marks are left out while the shown digits are the whole
value (15,000 is 15000, as people and other tools write it). Where the format rounds, the number is
exactly as shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

from chunk_assets.converters.xlsx.dates import date_text, is_date_format

Render = Callable[[float], str]

# Formats 0 to 49 are built in and not written in the file.
BUILT_IN = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00",
    5: '"$"#,##0_);("$"#,##0)', 6: '"$"#,##0_);("$"#,##0)',
    7: '"$"#,##0.00_);("$"#,##0.00)', 8: '"$"#,##0.00_);("$"#,##0.00)',
    9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??",
    14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy",
    18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "m/d/yy h:mm",
    27: "yyyy-mm-dd", 28: "yyyy-mm-dd", 29: "yyyy-mm-dd", 30: "m/d/yy", 31: "yyyy-mm-dd",
    32: "h:mm", 33: "h:mm:ss", 34: "h:mm", 35: "h:mm:ss", 36: "yyyy-mm-dd",
    37: "#,##0_);(#,##0)", 38: "#,##0_);(#,##0)", 39: "#,##0.00_);(#,##0.00)", 40: "#,##0.00_);(#,##0.00)",
    41: "#,##0_);(#,##0)", 42: '"$"#,##0_);("$"#,##0)', 43: "#,##0.00_);(#,##0.00)",
    44: '"$"#,##0.00_);("$"#,##0.00)', 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss", 48: "##0.0E+0", 49: "@",
    50: "yyyy-mm-dd", 51: "yyyy-mm-dd", 52: "yyyy-mm-dd", 53: "yyyy-mm-dd", 54: "yyyy-mm-dd",
    55: "yyyy-mm-dd", 56: "yyyy-mm-dd", 57: "yyyy-mm-dd", 58: "yyyy-mm-dd",
}  # fmt: skip
_TOKEN = re.compile(
    r'"([^"]*)"?'  # 1 literal in quotes
    r"|\\(.)"  # 2 escaped character
    r"|_(.)"  # 3 a blank as wide as the character
    r"|\*(.)"  # 4 the character fills the cell
    r"|\[([^\]]*)\]"  # 5 colour, condition or currency
    r"|(General)"  # 6
    r"|(E[+-])"  # 7 exponent
    r"|([0#?]+)"  # 8 digits
    r"|(.)",  # 9 anything else
    re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?)")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
}


@dataclass(slots=True)
class _Section:
    """One of up to four parts of a format: literals around one run of digit places."""

    prefix: str = ""
    suffix: str = ""
    integers: int = 0
    decimals: int = 0
    optional: int = 0
    grouped: bool = False
    percent: int = 0
    thousands: int = 0
    exponent: int = 0
    fraction: int = 0
    digits: bool = False
    general: bool = False
    text: bool = False
    condition: tuple[str, float] | None = None


def general(value: float) -> str:
    """A number without a format: up to 15 significant digits, as the file's program computes with.

    >>> general(0.1 + 0.2), general(15000.0), general(1e21)
    ('0.3', '15000', '1E+21')
    """
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    text = f"{value:.15g}"
    return text.replace("e", "E") if "e" in text else text


def renderer(code: str, *, date1904: bool = False) -> Render | None:
    """The function that shows a number in the format ``code``; ``None`` where that is ``general``."""
    if is_date_format(code):
        return lambda value: date_text(value, code, date1904) or general(value)
    sections = [_section(part) for part in _split(code)]
    numeric = [section for section in sections[:3] if not section.text]
    if not numeric or all(s.general and not (s.prefix or s.suffix) for s in numeric):
        return None

    if len(numeric) == 1 and not numeric[0].condition:
        only = numeric[0]
        return lambda value: _shown(only, value).strip() or general(value)

    def render(value: float) -> str:
        section, signed = _choose(numeric, value)
        shown = _shown(section, value if signed else abs(value))
        return shown.strip() or general(value)  # a format that hides the value does not hide it here

    return render


def _split(code: str) -> list[str]:
    """The sections between semicolons that are neither quoted nor escaped."""
    parts, at = [], 0
    for match in _TOKEN.finditer(code):
        if match[9] == ";":
            parts.append(code[at : match.start()])
            at = match.end()
    return [*parts, code[at:]]


def _choose(sections: list[_Section], value: float) -> tuple[_Section, bool]:
    """The section for ``value``, and whether it shows a minus sign itself."""
    if any(section.condition for section in sections):
        for section in sections:
            if section.condition is None or _COMPARE[section.condition[0]](value, section.condition[1]):
                return section, True
        return sections[-1], True
    if value < 0 and len(sections) > 1:
        return sections[1], False
    if value == 0 and len(sections) > 2:
        return sections[2], True
    return sections[0], True


def _section(part: str) -> _Section:
    section = _Section()
    seen_point = False
    for match in _TOKEN.finditer(part):
        literal = _literal(match)
        if literal is not None:
            _add(section, literal)
        elif match[5] is not None:
            _bracket(section, match[5])
        elif match[6]:
            section.general = section.digits = True
        elif match[7]:
            section.exponent = 1
        elif match[8]:
            _places(section, match[8], seen_point)
        elif match[9] is not None:
            seen_point = _sign(section, match[9], seen_point)
    return section


def _literal(match: re.Match[str]) -> str | None:
    if match[1] is not None:
        return match[1]
    if match[2] is not None:
        return match[2]
    return " " if match[3] is not None else "" if match[4] is not None else None


def _add(section: _Section, literal: str) -> None:
    if section.digits:
        section.suffix += literal
    else:
        section.prefix += literal


def _bracket(section: _Section, inside: str) -> None:
    if inside.startswith("$"):
        _add(section, inside[1:].partition("-")[0])
    elif condition := _CONDITION.fullmatch(inside):
        section.condition = (condition[1], float(condition[2]))


def _places(section: _Section, places: str, seen_point: bool) -> None:
    if section.thousands and not seen_point:  # a comma between digits groups, one after them divides
        section.grouped, section.thousands = True, 0
    if section.fraction:
        section.fraction = max(section.fraction, len(places))
    elif section.exponent:
        section.exponent = len(places)
    elif seen_point:
        section.decimals += len(places)
        section.optional += len(places) - len(places.rstrip("#"))
    else:
        section.integers += places.count("0")
    section.digits = True


def _sign(section: _Section, char: str, seen_point: bool) -> bool:
    """Takes a bare character of the format; returns whether the decimal point has been seen."""
    if char == ".":
        section.digits = True
        return True
    if char == "," and section.digits:
        section.thousands += 1
    elif char == "%":
        section.percent += 1
        _add(section, "%")
    elif char == "/" and section.digits:
        section.fraction = 1
    elif char == "@":
        section.text = True
    elif char != ",":
        _add(section, char)
    return seen_point


def _shown(section: _Section, value: float) -> str:
    if not section.digits:
        return ("-" if value < 0 and section.prefix else "") + section.prefix + section.suffix
    sign = "-" if value < 0 else ""
    if section.general:
        body = general(abs(value))
    elif section.fraction:
        body = _fraction(abs(value), section.fraction)
    elif section.exponent:
        body = _scientific(abs(value), section)
    else:
        body = _fixed(abs(value), section)
    if sign and not body.strip("0.,E+-"):  # what rounds to nothing has no sign
        sign = ""
    return f"{sign}{section.prefix}{body}{section.suffix}"


def _fixed(value: float, section: _Section) -> str:
    if section.percent or section.thousands:
        value *= 100.0**section.percent / 1000.0**section.thousands
    exact = f"{value:.15g}"
    if "e" in exact:
        return general(value)
    whole, _, decimals = exact.partition(".")
    if len(decimals) > section.decimals:
        whole, _, decimals = _rounded(exact, section).partition(".")
    decimals = decimals.ljust(section.decimals, "0")
    for _ in range(section.optional):
        decimals = decimals.removesuffix("0")
    whole = whole.rjust(section.integers, "0")
    return f"{whole}.{decimals}" if decimals else whole


def _rounded(exact: str, section: _Section) -> str:
    """``exact`` with fewer decimals, halves away from zero as in every spreadsheet program."""
    shown = Decimal(exact).quantize(Decimal(1).scaleb(-section.decimals), rounding=ROUND_HALF_UP)
    return f"{shown:,f}" if section.grouped else f"{shown:f}"


def _scientific(value: float, section: _Section) -> str:
    mantissa, _, exponent = f"{value:.{section.decimals}E}".partition("E")
    return f"{mantissa}E{exponent[0]}{exponent[1:].lstrip('0').rjust(section.exponent, '0')}"


def _fraction(value: float, digits: int) -> str:
    """Whole number and nearest fraction with at most ``digits`` digits below the line."""
    whole = int(value)
    part = Fraction(value - whole).limit_denominator(10 ** min(digits, 4) - 1)
    if part.denominator == 1:
        return str(whole + part.numerator)
    return f"{whole} {part.numerator}/{part.denominator}" if whole else f"{part.numerator}/{part.denominator}"
