"""Serial numbers as dates: days since the end of 1899 (or the start of 1904), always shown as ISO 8601."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import lru_cache

_NOT_CODE = re.compile(r'"[^"]*"?|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]|General', re.IGNORECASE)
_ELAPSED = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
_TIME = re.compile(r"[hs]|am/pm|a/p", re.IGNORECASE)
# Minutes stand beside hours or seconds; any other m is a month.
_MINUTES = re.compile(r"(h+[^a-z]*)m+|m+([^a-z]*s)", re.IGNORECASE)
_DAY = re.compile(r"[ydmebg]", re.IGNORECASE)
# The last serial number that is a date: 9999-12-31.
_LAST = 2_958_466


@lru_cache(maxsize=1024)
def _parts(code: str) -> tuple[bool, bool, bool]:
    """Whether the first section of the format shows a date, a time of day, an elapsed time."""
    bare = _NOT_CODE.sub("", code).partition(";")[0]
    if _ELAPSED.search(bare):
        return False, False, True
    has_time = bool(_TIME.search(bare))
    without = re.sub(r"am/pm|a/p", "", bare, flags=re.IGNORECASE)
    without = _MINUTES.sub(r"\1\2", without)
    return bool(_DAY.search(re.sub(r"[hs]", "", without, flags=re.IGNORECASE))), has_time, False


def is_date_format(code: str) -> bool:
    """Whether numbers in this format are dates, times or durations."""
    bare = _NOT_CODE.sub("", code)
    if not re.search(r"[ymdhs]", bare, re.IGNORECASE):
        return False
    return not re.search(r"[0#?]", re.sub(r"[hmsy]\.?0+|[.,]0+", "", bare, flags=re.IGNORECASE))


def date_text(serial: float, code: str, date1904: bool) -> str:
    """ISO date, date and time, time, or ``h:mm:ss`` for elapsed time; empty when out of range.

    Serial numbers up to 60 count a 29 February 1900 that never was, as the first spreadsheets did.
    """
    has_date, has_time, elapsed = _parts(code)
    if elapsed:
        return _duration(serial)
    if not 0 <= serial < _LAST:
        return ""
    if date1904:
        serial += 1_462
    elif serial < 60 and serial >= 1:
        serial += 1
    moment = datetime(1899, 12, 30) + timedelta(days=int(serial))  # noqa: DTZ001 - a calendar day
    moment += timedelta(seconds=round((serial - int(serial)) * 86_400))
    if not has_date:
        return f"{moment:%H:%M:%S}"
    date = f"{moment.year:04d}-{moment:%m-%d}"
    return f"{date} {moment:%H:%M:%S}" if has_time else date


def _duration(serial: float) -> str:
    seconds = round(abs(serial) * 86_400)
    sign = "-" if serial < 0 else ""
    return f"{sign}{seconds // 3_600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
