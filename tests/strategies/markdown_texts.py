"""Generated markdown: every kind of block, many scripts, and things no one should write."""

from __future__ import annotations

from hypothesis import strategies as st

SENTENCES = (
    "The harbour master closed gate 7 at 21.30 sharp.",
    "Revenue was $1,234.5 million, up 3.7 % on 2023.",
    "Ms. Ito of Kelp & Co. Inc. signed it.",
    "Why not?",
    "It rained (twice).",
    "See Sec. 10(b), p. 55 and Fig. 3 for the sums of the year before last.",
    "Wait... no!",
    "Die Fähre fährt über den Fluß zurück.",
    "Ο καιρός ήταν καλός σήμερα.",
    "Погода сегодня хорошая, и мы идём гулять.",
    "船は朝に出た。夕方に帰った！",
    "今日は天気がとても良いので遠くまで散歩に行きました",
    "هل وصلت السفينة؟ نعم وصلت عند الفجر.",
    "हवा तेज़ थी। नाव लौट आई।",
    "เรือออกจากท่าตอนเช้าและกลับมาตอนเย็น",
    "배가 항구에 들어왔다. 모두 기뻐했다.",
    "Flags 🇳🇴🇯🇵 and a family 👩‍👩‍👧‍👦 and e\u0301 stay whole 👍🏽.",
    "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo" * 3,
    "a/b/c/d.e?f=g&h=i;" * 6,
    "<|endoftext|> is plain text here.",
    "One, two, three, four, five, six, seven, eight, nine, ten, eleven and so on to the very end of it.",
)

sentences = st.sampled_from(SENTENCES)
words = st.sampled_from(
    ("oak", "tar", "rope 4", "Übermut", "3.14", "n/a", "x_y", "値", "a|b".replace("|", r"\|"))
)


@st.composite
def paragraphs(draw: st.DrawFn) -> str:
    between = draw(st.sampled_from((" ", " ", "\n", "  ", "\t")))
    return between.join(draw(st.lists(sentences, min_size=1, max_size=5)))


@st.composite
def headings(draw: st.DrawFn) -> str:
    title = draw(st.sampled_from(("Overview", "Item 1A. Risk", "Zürich", "A very long title " * 6, "")))
    if title and draw(st.booleans()):
        return f"{title}\n{draw(st.sampled_from(('===', '---')))}"
    return f"{'#' * draw(st.integers(1, 4))} {title}"


@st.composite
def tables(draw: st.DrawFn) -> str:
    columns = draw(st.integers(1, 4))
    row = st.lists(
        words | sentences.filter(lambda s: "|" not in s and "\n" not in s), min_size=columns, max_size=columns
    )
    rows = draw(st.lists(row, min_size=1, max_size=8))
    if draw(st.booleans()):
        body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>" for cells in rows)
        return f"<table><tr>{'<th>Name</th>' * columns}</tr>{body}</table>"
    lines = ["| " + " | ".join(cells) + " |" for cells in (["Name"] * columns, *rows)]
    return "\n".join([lines[0], "|" + "---|" * columns, *lines[1:]])


@st.composite
def lists(draw: st.DrawFn) -> str:
    marks = draw(st.sampled_from(("- ", "* ", "1. ", "10) ")))
    items = draw(st.lists(paragraphs(), min_size=1, max_size=6))
    return "\n".join(marks + item.replace("\n", "\n  ") for item in items)


@st.composite
def fences(draw: st.DrawFn) -> str:
    lines = draw(
        st.lists(st.sampled_from(("x = 1", "# no heading", "", "\tgo\xa0on", "print('a. B')")), max_size=12)
    )
    closing = draw(st.sampled_from(("\n```", "\n```", "")))
    return "```py\n" + "\n".join(lines) + closing


odd = st.sampled_from(
    (
        "---\ntitle: Demo\ntags: [a, b]\n---",
        "> quoted. And more.\nlazy",
        "***",
        "    indented code();\n    more code();",
        "<div>\nraw. Html here.\n</div>",
        "\f",
        "\x00\x0b\x1f",
        "Word\fnext page. Done.",
        "\ufeff",
        "\u200b\u00a0\u3000",
        "a" * 400,
        "é" + "\u0301" * 30,
        "[link](http://example.org/a.b?c=d) and `code. Here`.",
    )
)
blocks = st.one_of(
    paragraphs(), paragraphs(), headings(), headings(), tables(), lists(), fences(), odd, st.text(max_size=60)
)


@st.composite
def markdown_texts(draw: st.DrawFn) -> str:
    parts = draw(st.lists(blocks, max_size=9))
    newline = draw(st.sampled_from(("\n", "\n", "\n", "\r\n", "\r")))
    between = draw(st.sampled_from(("\n\n", "\n\n", "\n", "\n\n\n\n", "\f")))
    return between.join(parts).replace("\n", newline)
