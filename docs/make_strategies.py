"""Writes ``docs/strategies.md``: one sample document with the borders that each strategy draws.

Run it after a change: ``python docs/make_strategies.py``. A test fails when the page is not its output.
"""

from __future__ import annotations

from pathlib import Path

from chunk_assets.chunking import chunk_markdown, strategy
from chunk_assets.records import ChunkSpan
from chunk_assets.strategies import STRATEGIES
from chunk_assets.text.reasons import SPLIT_REASONS

PAGE = Path(__file__).with_name("strategies.md")

SAMPLE = """\
# Harbour report

The harbour had a good year. Ferry traffic rose by 4.2 % to 1.3 million passengers. Freight fell,
since the new bridge took the lorries away from the night boats, and the fish market moved to Port
St. Mary in May.

## Ships

| Ship | Built | Berth |
|------|-------|-------|
| Alba | 1998  | 3     |
| Corr | 2004  | 5     |
| Dunn | 2011  | 7     |

Two ships were sold:

1. The *Brae* went to a yard in Oban. She was built in 1979.
2. The *Eala* went to a museum.

## Costs

The quay wall was mended for $2.4 million. Divers found more cracks than the survey of 2019 had
shown, so the work took eleven weeks instead of four. The insurer paid half of it.

Bread was short in the canteen all winter. The baker had left for a hotel on the hill. A new one
begins in June, and until then rolls come from the town every morning.

```
total = wall + dredging
share = total / 2
```
"""

# Small sizes, so that there is something to see.
SETTINGS: dict[str, dict[str, object]] = {
    "fixed": {"max_chars": 300, "overlap_chars": 40},
    "recursive": {"max_chars": 400, "overlap_chars": 120},
    "paragraph": {},
    "sentence_window": {"target_tokens": 100, "overlap_tokens": 25, "min_tokens": 40},
    "semantic": {"target_tokens": 100, "min_tokens": 20, "overlap_sentences": 1},
    "section": {"target_tokens": 100, "merge_below_tokens": 16},
    "row": {},
}

_HEAD = """\
# Strategies

Written by `docs/make_strategies.py`; don't edit it by hand.

A strategy decides where a text is cut. One engine does the rest, the same for all: it finds sentences,
rows, items and code blocks (units), cuts what alone is over a limit, counts every chunk exactly by the
policy's tokenizer and by the embedder's, and says of each chunk which headings are above it and why it
ends.

Below, each strategy draws its borders into one document. A line `──` begins a chunk; it gives its number,
tokens, kind, context (what the embedder reads before the text) and the reason why it ends. Text that a
chunk repeats from the one before is marked with `↻`. Sizes are small, so that there is something to see;
the defaults are in the [reference](reference.md).

What holds for all of them:

- `text` is the slice of the markdown that its offsets name, without white space at its ends. Nothing
  visible is lost.
- A heading stays with what follows it, a sentence that ends with a colon with its list, a table's header
  with its first row. Code blocks, list items and table rows are whole where they fit.
- `max_tokens` holds for context and text together; `target_tokens` and `max_chars` for the text. Only a
  single character with all its marks (an emoji of a family) may be longer. The model's limit holds without
  any exception.
- The context is the heading path, without the headings that are in the text itself, and in a table its
  header row. Each takes a quarter of the limit at most and is shortened if it is longer: the text never is.
- Tables inside list items and quotes are cut between rows as well, with their header row as context.
- The overlap is made of whole sentences, rows or items, and gives way where it would leave no room for new
  text.
"""

_COST = """\
`python -m benchmarks.chunking` measures on two kinds of prose, 500 tokens with an overlap of 100, contenders
taking turns in one process. On 2026-11-30 (10 MB of each text, slow libraries a part of it, two cores with
nothing else to do; megabytes per processor second, and as a multiple of one bare tiktoken pass over the same
text in the same run):

| | general | finance | × tiktoken pass |
|---|---|---|---|
| `sentence_window` | 39.8 | 55.5 | 2.28, 3.00 |
| `sentence_window`, the embedder's WordPiece bound too | 22.4 | 32.3 | 1.29, 1.75 |
| `sentence_window`, tiktoken itself as the tokenizer | 11.3 | 12.0 | 0.65, 0.65 |
| `recursive` | 37.3 | 49.7 | 2.14, 2.69 |
| `paragraph` | 36.4 | 51.6 | 2.09, 2.79 |
| `section` | 36.6 | 51.5 | 2.10, 2.78 |
| tiktoken pass, no chunking | 17.4 | 18.5 | 1 |
| Chonkie, sentences | 2.7 | 3.3 | 0.16, 0.18 |
| Chonkie, recursive | 8.1 | 9.0 | 0.47, 0.49 |
| LlamaIndex, sentences | 2.0 | 2.6 | 0.11, 0.14 |
| LangChain, recursive | 5.5 | 5.9 | 0.31, 0.32 |
| semchunk | 4.1 | 4.0 | 0.23, 0.22 |
| semantic-text-splitter | 3.7 | 3.6 | 0.21, 0.20 |

`paragraph`, `section` and `recursive` make more chunks of the same text, and are 6 to 11 per cent slower than
`sentence_window` for that. 10 MB take 9.3 times as long as 1 MB and need 83 MB beyond the text (`semantic`:
90 MB); 10 MB of random words, which no cache likes, 140 MB. A megabyte without blanks, of newlines, of one
sentence, of dots, rules or brackets, a table of 100,000 rows and 100,000 headings take up to two seconds; a
megabyte of nothing but emoji, flags or initials up to six.
"""


def ruler(chunks: list[ChunkSpan]) -> str:
    """The document with a line before each chunk; repeated text is shown where it is repeated."""
    parts = []
    for number, chunk in enumerate(chunks):
        facts = [f"{number}", f"{chunk.token_count} tokens", chunk.content_kind]
        if chunk.context:
            facts.append("context " + " ⏎ ".join(chunk.context.split("\n")))
        parts.append(f"── {' · '.join(facts)} · ends: {chunk.split_reason}")
        repeated, new = chunk.text[: chunk.overlap_chars], chunk.text[chunk.overlap_chars :]
        if repeated:
            parts.append("\n".join(f"↻ {line}" for line in repeated.rstrip().split("\n")))
        parts.append(new.strip("\n").lstrip(" ") if repeated else new)
    return "\n".join(parts)


def page() -> str:
    """The whole page."""
    parts = [_HEAD, "## The document", f"````markdown\n{SAMPLE}````"]
    for name, found in STRATEGIES.items():
        chosen = strategy(name, SETTINGS[name])
        settings = ", ".join(f"`{key}: {value}`" for key, value in SETTINGS[name].items()) or "the defaults"
        drawn = ruler(chunk_markdown(SAMPLE, chosen))
        parts += [f"## {name}", f"{found.promise} Here with {settings}.", f"````text\n{drawn}\n````"]
    rows = "\n".join(f"| `{name}` | {meaning} |" for name, meaning in SPLIT_REASONS.items())
    parts += ["## Why a chunk ends", "The column `split_reason` has one of these:"]
    parts.append(f"| reason | meaning |\n|---|---|\n{rows}")
    parts += ["## What it costs", _COST.rstrip("\n")]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
