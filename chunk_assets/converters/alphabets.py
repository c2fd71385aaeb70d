"""Guessing legacy encodings from the characters that each reading of the bytes yields.

A wrong reading scatters rare characters, swaps small and capital letters or puts symbols inside words;
the right one yields what is frequent in its language.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain

SAMPLE = 200_000  # bytes looked at


@dataclass(frozen=True, slots=True)
class Alphabet:
    """An encoding and its frequent characters, ``share`` at least of the non-ASCII ones of real text.

    ``minor`` breaks ties: the most frequent letters of a script, the less frequent ones of a Latin set.
    """

    name: str
    common: re.Pattern[str]
    share: float = 0.6
    minor: re.Pattern[str] | None = None


# The most frequent Chinese characters, with those that differ in traditional script after the bar.
_HAN = (
    "的一是不了在人有我他大上和地到以出就可也你生能而子那得下自之年作用道行所然家事成方多去法如都同面起看"
    "定天分好小部其些主心前本但因只想日把十民第公此已工使情明性知全三又正外高由很最重手向文反相二或制身果加"
    "西月合回特代常先海通教原提立及比解水名走各入平打女神何安少目太量再接必件期市命山金指克品住告求死化"
    "这个们中来为国说时要会对着于里后种经么发学现当没动还进样理她开从实军者意无力它与长机点业将两间问物应战"
    "头体政美见被利什等产新己斯话内信表老给世位次度门任儿东声员论处义几认条系气题尔别变四总电数报才结受感建务"
    "做场计管直德资许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南类"
)
_HAN_TRADITIONAL = (
    "這個們中來為國說時要會對著於裡後種經麼發學現當沒動還進樣理她開從實軍者意無力它與長機點業將兩間問物應戰"
    "頭體政美見被利什等產新己斯話內信表老給世位次度門任兒東聲員論處義幾認條系氣題爾別變四總電數報才結受感建務"
    "做場計管直德資許統區保至隊形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象完設式色路記南類"
)
_PUNCTUATION = "，。、；：「」『』（）《》？！“”"
_KANA = "\u3041-\u3093\u30a1-\u30fc、。「」"


def _set(characters: str) -> re.Pattern[str]:
    return re.compile(f"[{characters}]")


def _rows(codec: str, first: int, last: int) -> str:
    """The characters of a double-byte set in these rows, which hold the frequent ones."""
    places = ((lead, trail) for lead in range(first, last + 1) for trail in range(0xA1, 0xFF))
    return bytes(chain.from_iterable(places)).decode(codec, "ignore")


# Korean text is in the 2,350 syllables of the older standard, Japanese names in the kanji of level 1.
_HANGUL = _rows("euc_kr", 0xB0, 0xC8)
_KANJI = _rows("euc_jp", 0xB0, 0xCF)

EAST_ASIAN = (
    Alphabet("cp949", _set(_HANGUL), 0.85),
    Alphabet("cp932", _set(_KANA), 0.3),
    Alphabet("cp932", _set(_KANJI + _KANA), 0.9),
    Alphabet("euc_jp", _set(_KANA), 0.3),
    Alphabet("gb18030", _set(_HAN + _PUNCTUATION), 0.25),
    Alphabet("big5", _set(_HAN[:130] + _HAN_TRADITIONAL + _PUNCTUATION), 0.25),
)
# Small letters of each script: running text is mostly small letters.
SCRIPTS = (
    Alphabet("cp1251", _set("а-яёіїєґў"), minor=_set("оеаинтср")),
    Alphabet("koi8_r", _set("а-яё"), minor=_set("оеаинтср")),
    Alphabet("cp866", _set("а-яё"), minor=_set("оеаинтср")),
    Alphabet("iso8859_5", _set("а-яёіїє"), minor=_set("оеаинтср")),
    Alphabet("mac_cyrillic", _set("а-яё"), minor=_set("оеаинтср")),
    Alphabet("cp1253", _set("α-ωάέήίόύώϊϋΐΰ"), minor=_set("αοιετσνρ")),
    Alphabet("iso8859_7", _set("α-ωάέήίόύώϊϋΐΰ"), minor=_set("αοιετσνρ")),
    Alphabet("cp1255", _set("א-ת\u05b0-\u05c7"), minor=_set("יוהלארתשמ")),
    Alphabet("iso8859_8", _set("א-ת"), minor=_set("יוהלארתשמ")),
    Alphabet("cp1256", _set("ء-غف-ي\u064b-\u0652،؛؟"), minor=_set("اليمونرتب")),
    Alphabet("iso8859_6", _set("ء-غف-ي\u064b-\u0652،؛؟"), minor=_set("اليمونرتب")),
    Alphabet(
        "cp874",
        _set("\u0e01-\u0e3a\u0e40-\u0e4e"),
        minor=_set("\u0e32\u0e19\u0e23\u0e2d\u0e01\u0e40\u0e07\u0e48\u0e49"),
    ),
)
_SIGNS = "€“”„‘’–—…•§°©®«»"
_WESTERN = "¿¡ªºàáâãäåæçèéêëíîïñóôöøúüßœšžÀÁÂÄÅÆÇÈÉÊÍÑÓÔÖØÚÜ"
LATIN = (
    Alphabet("windows-1252", _set(_WESTERN + _SIGNS), 0, _set("ìòùõûðþýÿŸŠŽÌÒÙÐÞÝ")),
    Alphabet("iso8859_2", _set("ąćęłńóśźżáčďéěíňřšťúůýžőűöüäßâîăşţĄĆĘŁŃÓŚŹŻČŘŠŽÁÉÍÚÖÜŐŰ"), 0),
    Alphabet("cp1250", _set("ąćęłńóśźżáčďéěíňřšťúůýžőűöüäßâîăşţĄĆĘŁŃÓŚŹŻČŘŠŽÁÉÍÚÖÜŐŰ" + _SIGNS), 0),
    Alphabet("cp1254", _set("çğıöşüâîûÇĞİÖŞÜ" + _SIGNS), 0),
    Alphabet("cp850", _set("çéâäàåêëèïîìæôöòûùüßñáíóúøÄÅÉÖÜØ"), 0),
    Alphabet("mac_roman", _set("çéâäàåêëèïîìæôöòûùüßñáíóúøÄÅÉÖÜØ" + _SIGNS), 0),
)  # fmt: skip
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")
_OUTSIDE = re.compile(r"[^\x00-\x7f]")
# Half-width katakana are what Latin text becomes when it is read as Shift JIS.
_SUSPECT_EAST = re.compile("[\uff61-\uff9f\ue000-\uf8ff\x80-\x9f]")
_PAIRED = re.compile(r"[^\x00-\x7f]{2,}")
# A symbol between letters, a capital after a small letter, a control character.
_MISPLACED = re.compile(
    r"(?<=[^\W\d_])[^\w\s\x00-\x7f\u2019\u2018\u2010-\u2015\xad\u2026](?=[^\W\d_])"
    r"|(?<=[a-zß-ö])[À-ÞĀŘŠŽŁĄĆĘŃŚŹŻĞŞİ](?=[a-z])|[\x80-\x9f]"
)
# Letters of one language or the other: the two tables for both swap some of them, no text mixes them.
# Signs of typeset text count twice: by chance they seldom stand where a quotation or an amount is.
_QUOTES = re.compile(r"€(?!\w)|(?<!\w)[“„‘](?=\w)|(?<=[\w.,!?])[”’](?!\w)|(?<= )[–—](?= )")
_POLISH, _CZECH = re.compile("[ąęłńśźż]"), re.compile("[ěščřžůďťň]")
_SUPERSCRIPTS = re.compile(r"(?<=[^\W\d_])[¹²³¼½¾¿¡¤¦¨¬¯´¸](?=[^\W\d_])")


# Python's cp1252 refuses five bytes that browsers read as C1 controls; the other 27 differ from Latin-1.
_CP1252 = {
    byte: bytes([byte]).decode("cp1252") for byte in range(0x80, 0xA0) if byte not in b"\x81\x8d\x8f\x90\x9d"
}


def windows_1252(data: bytes) -> str:
    """``data`` as browsers read Windows-1252: every byte is a character."""
    return data.decode("latin-1").translate(_CP1252)


def guess(sample: bytes) -> str | None:
    """The most plausible legacy encoding of ``sample``, which holds bytes over 127; ``None`` for noise.

    >>> guess("Большой текст на русском языке".encode("koi8_r"))
    'koi8_r'
    """
    name = _best(sample, EAST_ASIAN, _east_asian_score)
    if name:
        return name
    runs = [len(run) for run in _HIGH_RUN.findall(sample)]
    if runs and sum(runs) / len(runs) >= 2.5 and (name := _best(sample, SCRIPTS, _script_score)):
        return name
    noisy = sum(runs) > len(sample) / 4
    return _best(sample, LATIN, _latin_score) or (None if noisy else "windows-1252")


def wide_without_zeroes(sample: bytes) -> str | None:
    """UTF-16 without zero bytes: only text of scripts that need no ASCII space or digit looks like that."""
    sample = sample[: len(sample) - len(sample) % 2]
    for name in ("utf-16-le", "utf-16-be"):
        text = _read(sample, name) or ""
        scores = [_east_asian_score(text, alphabet) for alphabet in EAST_ASIAN]
        scores += [_script_score(text, alphabet) for alphabet in SCRIPTS]
        if any(scores) and len(_OUTSIDE.findall(text)) > 0.8 * len(text):
            return name
    return None


def _best(
    sample: bytes, alphabets: tuple[Alphabet, ...], score: Callable[[str, Alphabet], float]
) -> str | None:
    """The alphabet with the highest score over 0; the first of equal ones."""
    best, name = 0.0, None
    for alphabet in alphabets:
        text = _read(sample, alphabet.name)
        if text is not None and (value := score(text, alphabet)) > best:
            best, name = value, alphabet.name
    return name


def _read(sample: bytes, name: str) -> str | None:
    """``sample`` decoded strictly, but for a character cut at its end."""
    if name == "windows-1252":
        return windows_1252(sample)
    for cut in range(4 if len(sample) >= SAMPLE else 1):
        try:
            return sample[: len(sample) - cut].decode(name)
        except UnicodeDecodeError:
            continue
    return None


def _share(text: str, characters: re.Pattern[str]) -> float:
    outside = len(_OUTSIDE.findall(text))
    return len(characters.findall(text)) / outside if outside else 0.0


def _east_asian_score(text: str, alphabet: Alphabet) -> float:
    """Share of frequent characters, 0 where they don't stand in runs as they do in real text."""
    outside = len(_OUTSIDE.findall(text))
    paired = sum(map(len, _PAIRED.findall(text)))
    if not outside or paired < 0.6 * outside or len(_SUSPECT_EAST.findall(text)) > 0.1 * outside:
        return 0.0
    share = _share(text, alphabet.common)
    return share if share >= alphabet.share else 0.0


def _script_score(text: str, alphabet: Alphabet) -> float:
    share = _share(text, alphabet.common)
    if share < alphabet.share or alphabet.minor is None:
        return 0.0
    return share + _share(text, alphabet.minor)


def _latin_score(text: str, alphabet: Alphabet) -> float:
    good = len(alphabet.common.findall(text)) + len(_QUOTES.findall(text))
    half = len(alphabet.minor.findall(text)) / 2 if alphabet.minor else 0.0
    bad = len(_MISPLACED.findall(text)) + len(_SUPERSCRIPTS.findall(text))
    bad += min(len(_POLISH.findall(text)), len(_CZECH.findall(text)))
    return good + half - 2.0 * bad
