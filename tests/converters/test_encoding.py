"""Decoding bytes of unknown encoding."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunk_assets.converters.encoding import decode
from chunk_assets.errors import DocumentFailure

TEXTS = {
    "ru": "Настоящий договор вступает в силу с момента его подписания обеими сторонами.",
    "el": "Η παρούσα σύμβαση τίθεται σε ισχύ από την υπογραφή της.",
    "he": "הסכם זה נכנס לתוקף במועד חתימתו. הצדדים מתחייבים לקיימו",
    "ar": "تدخل هذه الاتفاقية حيز التنفيذ من تاريخ توقيعها",
    "ja": "本契約は署名の日から効力を生じるものとする。カタカナも読む。",
    "zh": "本合同自双方签字之日起生效。双方同意遵守下列条款，并且在合同期内履行义务。",
    "zh-tw": "本合約自雙方簽字之日起生效。雙方同意遵守下列條款，並且在合約期內履行義務。",
    "ko": "본 계약은 서명일로부터 효력이 발생한다. 당사자는 다음과 같이 합의한다",
    "th": "สัญญานี้มีผลบังคับใช้ตั้งแต่วันที่ลงนาม",
    "de": "Der Vertrag über die Größe der Flächen: 15,50 € – für „alle“ Parteien",
    "fr": "Où est l’hôtel à côté du café déjà fermé ? Ça coûte très cher",
    "es": "El contrato entrará en vigor mañana. ¿Cuándo? ¡Señor García!",
    "it": "La città è più bella perché c'è la libertà, però non può",
    "pl": "Umowa wchodzi w życie z dniem podpisania. Strony zobowiązują się przestrzegać łączną kwotę",
    "cs": "Smlouva nabývá účinnosti dnem podpisu, příslušná ustanovení této dohody, která ještě",
    "tr": "Sözleşme imza tarihinde yürürlüğe girer. Aşağıdaki şartları kabul eder",
    "da": "Aftalen træder i kraft på datoen for underskrivelsen. Større ændringer, også øvrige",
}
LEGACY = [
    ("ru", "cp1251"), ("ru", "koi8_r"), ("ru", "cp866"), ("ru", "iso8859_5"), ("el", "cp1253"),
    ("el", "iso8859_7"),
    ("he", "cp1255"), ("he", "iso8859_8"), ("ar", "cp1256"), ("ar", "iso8859_6"), ("ja", "cp932"),
    ("ja", "euc_jp"), ("ja", "iso2022_jp"), ("zh", "gb18030"), ("zh-tw", "big5"), ("ko", "cp949"),
    ("th", "cp874"),
    ("de", "cp1252"), ("fr", "cp1252"), ("fr", "mac_roman"), ("es", "cp1252"), ("es", "mac_roman"),
    ("it", "cp1252"), ("pl", "cp1250"), ("pl", "iso8859_2"), ("cs", "cp1250"), ("cs", "iso8859_2"),
    ("tr", "cp1254"), ("da", "cp1252"), ("da", "cp850"),
]  # fmt: skip


@pytest.mark.parametrize("language", sorted(TEXTS))
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"]
)
def test_unicode_is_read_with_and_without_mark(language: str, encoding: str):
    assert decode(TEXTS[language].encode(encoding))[0] == TEXTS[language]


@pytest.mark.parametrize(("language", "encoding"), LEGACY)
def test_legacy_encodings_are_told_by_their_text(language: str, encoding: str):
    data = TEXTS[language].encode(encoding, "ignore")
    assert decode(data)[0] == data.decode(encoding)


@pytest.mark.parametrize(
    "text", ["氏名,年齢\n山田太郎,30\n鈴木一郎,25\n", "株式会社日本銀行", "東京都,大阪府\n"]
)
def test_japanese_without_kana_is_not_taken_for_korean(text):
    assert decode(text.encode("cp932")) == (text, "cp932")


def test_latin_text_is_not_taken_for_chinese():
    text = "Der größte Gärtner fährt über Österreich nach Köln; Maßnahmen folgen.\n" * 5
    assert decode(text.encode("latin-1")) == (text, "windows-1252")


def test_the_declared_charset_wins_over_guesses_but_not_over_the_bytes():
    text = "Größe"
    assert decode(text.encode("cp1252"), "ISO-8859-1") == (text, "windows-1252")
    assert decode(text.encode(), "iso-8859-1") == (text, "utf-8")
    assert decode("Привет".encode("koi8_r"), "koi8-r") == ("Привет", "koi8-r")
    assert decode(text.encode("utf-16"), "utf-8")[0] == text


@pytest.mark.parametrize(
    "label", ["nonsense", "", "utf-16", "idna", "rot13", "hex", "unicode_escape", "\x00", "x" * 500]
)
def test_useless_declarations_are_ignored(label: str):
    assert decode("Größe".encode("cp1252"), label)[0] == "Größe"


def test_utf_8_with_a_few_stray_bytes_keeps_both():
    data = ("Größe und Länge, Höhe, Tiefe, Fläche, Übermaß, Öse. " * 3).encode() + b"caf\xe9"
    text, name = decode(data)
    assert text.endswith("café")
    assert "Größe" in text
    assert name == "utf-8 with windows-1252"


def test_a_cut_last_character_is_no_fault():
    data = ("Größe und Länge, Höhe, Tiefe, Fläche, Übermaß " * 3 + "ö").encode()[:-1]
    assert "\ufffd" not in decode(data)[0]


@pytest.mark.parametrize("seed", range(40))
def test_random_bytes_are_no_text(seed: int):
    source = random.Random(seed)
    with pytest.raises(DocumentFailure) as caught:
        decode(source.randbytes(source.choice([100, 500, 5_000])))
    assert caught.value.status == "broken"


def test_images_and_archives_are_no_text():
    for data in (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4, b"PK\x03\x04" + bytes(60), bytes(1_000)):
        with pytest.raises(DocumentFailure):
            decode(data)


@given(st.text(max_size=80))
def test_utf_8_is_always_read_as_it_is(text: str):
    clean = "".join(char for char in text if char.isprintable() or char in "\n\t")
    assert decode(clean.encode())[0] == clean.removeprefix("\ufeff")


@given(st.binary(max_size=300))
def test_no_bytes_crash_it_and_none_make_a_replacement_character(data: bytes):
    try:
        text, name = decode(data)
    except DocumentFailure as failure:
        text, name = "", failure.status
    assert name
    held = any(mark in data for mark in ("\ufffd".encode(), b"\xff\xfd", b"\xfd\xff"))
    assert held or "\ufffd" not in text


def test_c1_bytes_of_windows_are_signs_and_the_undefined_five_do_no_harm():
    assert decode(b"price 5 \x80 \x93quoted\x94 text\x81")[0].startswith("price 5 € “quoted” text")
