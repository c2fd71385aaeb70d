"""Prose in any amount, the same on every machine: sentences of real words in a made-up order.

General prose is the language reference that ships with Python (``pydoc_data.topics``), taken apart
into sentences; finance prose is made of phrases. Both get names and numbers of their own, so that no
word cache sees the same few thousand words only.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

_SYLLABLES = (
    "ka",
    "lo",
    "mir",
    "ten",
    "vas",
    "dor",
    "el",
    "qui",
    "ran",
    "sho",
    "bel",
    "tor",
    "an",
    "fi",
    "gus",
)
_PARAGRAPH = 5

_SUBJECTS = (
    "The Company",
    "Management",
    "Net revenue",
    "Operating income",
    "Gross margin",
    "Our subsidiary {name} Inc.",
    "The Board of Directors",
    "Free cash flow",
    "The credit facility",
    "The inventory of {name}",
    "Deferred tax",
    "Item 1A. of the report",
    "The effective tax rate",
    "Cost of sales",
    "The lease obligation",
    "Segment profit",
    "The purchase price",
    "Research and development expense",
    "Our largest customer",
    "The pension plan",
)
_VERBS = (
    "increased by {n}.{d}%",
    "decreased to ${n}.{d} million",
    "was ${n},{m} thousand as of December 31, {year}",
    "is subject to certain covenants and restrictions",
    "compared with ${n}.{d} billion in fiscal {year}",
    "reflects lower volumes and unfavorable currency effects",
    "expects to incur additional expenses",
    "has been restated in accordance with U.S. GAAP",
    "amounted to {n} basis points",
    "grew in both segments",
    "was recorded under the terms of the agreement",
    "remained at approximately ${d}.{n} per diluted share",
    "is allocated to the assets acquired on a preliminary basis",
    "was largely offset by higher freight costs",
)
_TAILS = (
    "primarily due to the acquisition of {name} Holdings",
    "as described in Note {d} to the financial statements",
    "which we believe is adequate for the foreseeable future",
    "net of amounts paid to former shareholders",
    "before interest, taxes, depreciation and amortization",
    "and may differ materially from our estimates",
    "for the three months ended June 30, {year}",
    "at a weighted average rate of {d}.{n}%",
    "consistent with the guidance that we gave in the prior quarter",
    "excluding items that we do not expect to recur",
)


def general(size: int, seed: int = 1) -> str:
    """About ``size`` characters of general prose in paragraphs."""
    from pydoc_data import topics

    found = re.sub(r"[*`\"|^]|\.\. ", "", "\n".join(topics.topics.values()))
    sentences = [
        " ".join(sentence.split())
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])", found)
        if 60 <= len(sentence) <= 400 and not re.search(r"[=_{}<>\\]|--|\n\s*\n", sentence)
    ]
    return _prose(size, seed, lambda chance: chance.choice(sentences) + _aside(chance))


def finance(size: int, seed: int = 2) -> str:
    """About ``size`` characters of the prose of annual reports."""
    return _prose(size, seed, _finance_sentence)


def _prose(size: int, seed: int, sentence: Callable[[random.Random], str]) -> str:
    chance = random.Random(seed)  # noqa: S311 - a seeded text, no secret

    def paragraphs() -> Iterator[str]:
        written = 0
        while written < size:
            paragraph = " ".join(sentence(chance) for _ in range(chance.randint(2, 2 * _PARAGRAPH)))
            written += len(paragraph) + 2
            yield paragraph

    return "\n\n".join(paragraphs())[:size]


def _name(chance: random.Random) -> str:
    return "".join(chance.choice(_SYLLABLES) for _ in range(chance.randint(2, 4))).title()


def _aside(chance: random.Random) -> str:
    return f" {_name(chance)} noted it in {chance.randint(1900, 2030)}." if chance.random() < 0.1 else ""


def _finance_sentence(chance: random.Random) -> str:
    phrases = " ".join((chance.choice(_SUBJECTS), chance.choice(_VERBS)))
    for _ in range(chance.randint(1, 3)):
        phrases += ", " + chance.choice(_TAILS)
    filled = phrases.format(
        name=_name(chance),
        n=chance.randint(1, 999),
        d=chance.randint(0, 9),
        m=chance.randint(100, 999),
        year=chance.randint(1998, 2026),
    )
    return filled if filled.endswith(".") else filled + "."
