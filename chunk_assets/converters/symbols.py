"""Characters of symbol fonts, which Office stores in the private use area (U+F020 to U+F0FF)."""

from __future__ import annotations

# Adobe's Symbol encoding from 0x20 on; a space stands for pieces of tall brackets and the like.
_SYMBOL_LOW = (
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_ αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
)
_SYMBOL_HIGH = "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…  ↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑"
_SYMBOL = {
    **dict(enumerate(_SYMBOL_LOW, 0x20)),
    **dict(enumerate(_SYMBOL_HIGH, 0xA0)),
    0xF1: "〉",
    0xF2: "∫",
}
_WINGDINGS = {
    0x21: "✏", 0x22: "✂", 0x28: "☎", 0x29: "✆", 0x2A: "✉", 0x36: "⌛", 0x4A: "☺", 0x4C: "☹", 0x6C: "●",
    0x6E: "■", 0x6F: "☐", 0x70: "❐", 0x71: "❑", 0x72: "❒", 0x73: "⬧", 0x74: "◆", 0x75: "◆", 0x76: "❖",
    0x9E: "·", 0x9F: "•", 0xA0: "▪", 0xA1: "○", 0xA7: "▪", 0xA8: "☐", 0xAB: "★", 0xB2: "✧", 0xD8: "➢",
    0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE8: "➔", 0xF0: "⇨", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒",
    0xFE: "☑",
}  # fmt: skip
_WINGDINGS_2 = {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0xA3: "☐", 0x97: "●", 0x98: "●"}
_TABLES = {"symbol": _SYMBOL, "wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2}


def symbol(code: int, font: str) -> str:
    """The Unicode text of a symbol font's character; unknown ones of known fonts become ``•``."""
    table = _TABLES.get(font.lower())
    if table is not None:
        return table.get(code & 0xFF, "•" if code & 0xFF > 0x20 else " ").strip() or " "
    if 0xF020 <= code <= 0xF0FF:
        return _WINGDINGS.get(code & 0xFF, chr(code))
    return chr(code) if 0x20 <= code < 0x110000 and not 0xD800 <= code < 0xE000 else ""


def translate(text: str, font: str) -> str:
    """``text`` of a run in a symbol font; text in other fonts is returned as it is."""
    if font.lower() not in _TABLES:
        return text
    return "".join(symbol(ord(char), font) if char != " " else char for char in text)
