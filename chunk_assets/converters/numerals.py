"""Numbers in the forms that Word offers for lists: roman, letters, ordinals, East Asian, and so on."""

from __future__ import annotations

_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"),
    (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_LETTERS = {
    "lowerLetter": "abcdefghijklmnopqrstuvwxyz",
    "russianLower": "абвгдежзиклмнопрстуфхцчшщыэюя",
    "hebrew1": "אבגדהוזחטיכלמנסעפצקרשת",
    "arabicAlpha": "أبتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "arabicAbjad": "أبجدهوزحطيكلمنسعفصقرشتثخذضظغ",
    "aiueoFullWidth": "アイウエオカキクケコサシスセソタチツテトナニヌネノ"
    "ハヒフヘホマミムメモヤユヨラリルレロワヲン",
    "irohaFullWidth": "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰ"
    "ノオクヤマケフコエテアサキユメミシヱヒモセスン",
    "ganada": "가나다라마바사아자차카타파하",
    "chosung": "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ",
    "ideographZodiac": "子丑寅卯辰巳午未申酉戌亥",
    "ideographTraditional": "甲乙丙丁戊己庚辛壬癸",
    "chicago": "*†‡§",
}
_CASED = {
    "upperLetter": "lowerLetter",
    "russianUpper": "russianLower",
    "aiueo": "aiueoFullWidth",
    "iroha": "irohaFullWidth",
}
_DIGITS = "〇一二三四五六七八九"
_UNITS = ("", "十", "百", "千")
_COUNTING = {
    "japaneseCounting", "chineseCounting", "chineseCountingThousand", "taiwaneseCounting",
    "taiwaneseCountingThousand", "ideographLegalTraditional", "japaneseLegal", "koreanCounting",
}  # fmt: skip
_BY_DIGIT = {"ideographDigital", "japaneseDigitalTenThousand", "taiwaneseDigital", "koreanDigital2"}
_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_IRREGULAR = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
    "twelve": "twelfth",
}  # fmt: skip


def numeral(number: int, form: str) -> str:
    """``number`` in Word's number form ``form``; decimal digits for a form that is not known.

    >>> [numeral(28, form) for form in ("decimal", "upperRoman", "lowerLetter", "ordinal", "decimalZero")]
    ['28', 'XXVIII', 'bb', '28th', '28']
    """
    letters = _LETTERS.get(_CASED.get(form, form))
    if letters is not None and number > 0:
        return _lettered(number, letters, upper=form.startswith(("upper", "russianUpper")))
    if form in {"upperRoman", "lowerRoman"} and 0 < number < 4000:
        return roman(number).upper() if form == "upperRoman" else roman(number)
    if form == "none":
        return ""
    return _worded(number, form)


def _worded(number: int, form: str) -> str:
    if form.startswith("decimalZero"):
        return f"{number:02d}"
    if form == "ordinal":
        return f"{number}{_suffix(number)}"
    if form in {"cardinalText", "ordinalText"} and 0 < number < 100:
        words = _cardinal(number)
        return (words if form == "cardinalText" else _ordinal(words)).capitalize()
    if form in _COUNTING and 0 < number < 10_000:
        return _counted(number)
    if form in _BY_DIGIT:
        return "".join(_DIGITS[int(digit)] for digit in str(number))
    if form.startswith("decimalEnclosedCircle") and 0 < number <= 20:
        return chr(0x245F + number)
    return f"{number:X}" if form == "hex" else str(number)


def roman(number: int) -> str:
    """Small roman digits for a number over 0."""
    digits = []
    for size, sign in _ROMAN:
        digits.append(sign * (number // size))
        number %= size
    return "".join(digits)


def _lettered(number: int, letters: str, *, upper: bool) -> str:
    """As Word does: a … z, aa, bb … zz, aaa."""
    times, index = divmod(number - 1, len(letters))
    text = letters[index] * min(times + 1, 50)
    return text.upper() if upper else text


def _suffix(number: int) -> str:
    if number % 100 in {11, 12, 13}:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _cardinal(number: int) -> str:
    if number < 20:
        return _ONES[number]
    tens, ones = divmod(number, 10)
    return f"{_TENS[tens]}-{_ONES[ones]}" if ones else _TENS[tens]


def _ordinal(words: str) -> str:
    head, dash, last = words.rpartition("-")
    if last in _IRREGULAR:
        last = _IRREGULAR[last]
    else:
        last = f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th"
    return f"{head}{dash}{last}"


def _counted(number: int) -> str:
    text, pending_zero = "", False
    for place in range(3, -1, -1):
        digit = number // 10**place % 10
        if not digit:
            pending_zero = bool(text)
            continue
        text += "〇" if pending_zero else ""
        pending_zero = False
        skip_one = digit == 1 and place == 1 and not text
        text += ("" if skip_one else _DIGITS[digit]) + _UNITS[place]
    return text
