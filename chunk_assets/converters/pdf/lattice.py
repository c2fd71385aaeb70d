"""Tables drawn with rules: rules meet in a grid, grid boxes without a rule between them are one cell.

Work is bounded: lines after merging, and boxes of a grid, are capped, and every step is linear in
them or in the words.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from chunk_assets.converters.pdf.cells import bulleted, cell_text, cut_cell, split_rows, trimmed
from chunk_assets.converters.pdf.model import Rule, Table, Word

SNAP = 2.6
MAX_RULES = 1_500
MAX_BOXES = 40_000


def merged(rules: list[Rule]) -> list[Rule]:
    """Rules on (nearly) one line joined where they touch; at most ``MAX_RULES``, the longest."""
    joined: list[Rule] = []
    for group in _snapped(rules):
        at = sum(rule.at for rule in group) / len(group)
        start, end = group[0].start, group[0].end
        for rule in sorted(group, key=lambda item: item.start):
            if rule.start > end + SNAP:
                joined.append(Rule(at, start, end))
                start, end = rule.start, rule.end
            else:
                start, end = min(start, rule.start), max(end, rule.end)
        joined.append(Rule(at, start, end))
    if len(joined) > MAX_RULES:
        joined.sort(key=lambda item: item.start - item.end)
        joined = joined[:MAX_RULES]
    return sorted(joined)


def _snapped(rules: list[Rule]) -> list[list[Rule]]:
    groups: list[list[Rule]] = []
    for rule in sorted(rules):
        if groups and rule.at - groups[-1][0].at <= SNAP:
            groups[-1].append(rule)
        else:
            groups.append([rule])
    return groups


def components(across: list[Rule], down: list[Rule]) -> list[tuple[list[Rule], list[Rule]]]:
    """Sets of rules that hang together by crossings, each with rules of both directions."""
    parent = list(range(len(across) + len(down)))

    def root(item: int) -> int:
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    heights = [rule.at for rule in across]
    for index, rule in enumerate(down):
        low, high = bisect_left(heights, rule.start - SNAP), bisect_right(heights, rule.end + SNAP)
        for other in range(low, high):
            if across[other].start - SNAP <= rule.at <= across[other].end + SNAP:
                parent[root(len(across) + index)] = root(other)
    groups: dict[int, tuple[list[Rule], list[Rule]]] = defaultdict(lambda: ([], []))
    for index, rule in enumerate(across):
        groups[root(index)][0].append(rule)
    for index, rule in enumerate(down):
        groups[root(len(across) + index)][1].append(rule)
    return [group for group in groups.values() if group[0] and group[1]]


class Grid:
    """The boxes between the rules of one component; ``cell[row][column]`` names the box's cell."""

    def __init__(self, across: list[Rule], down: list[Rule]) -> None:
        self.xs = _positions([rule.at for rule in down] + [end for rule in across for end in rule[1:]])
        self.ys = _positions([rule.at for rule in across] + [end for rule in down for end in rule[1:]])
        self.columns, self.rows = len(self.xs) - 1, len(self.ys) - 1
        self.cell: list[list[int]] = []
        if self.columns >= 2 and self.rows >= 2 and self.columns * self.rows <= MAX_BOXES:
            self._flood(across, down)

    def _flood(self, across: list[Rule], down: list[Rule]) -> None:
        walls = _barriers(down, self.xs, self.ys)
        floors = _barriers(across, self.ys, self.xs)
        width, count = self.columns, self.columns * self.rows
        parent = list(range(count))

        for column, wall in enumerate(walls[1:width]):
            for row in _gaps(wall):
                _join(parent, row * width + column, row * width + column + 1)
        for row, floor in enumerate(floors[1 : self.rows]):
            for column in _gaps(floor):
                _join(parent, row * width + column, (row + 1) * width + column)
        # Boxes hang on boxes of smaller numbers, so one pass finds the root of each.
        for box in range(count):
            parent[box] = parent[parent[box]]
        self.cell = [parent[start : start + width] for start in range(0, count, width)]

    def place(self, x: float, y: float) -> int:
        """The cell at a point, or -1 outside the grid."""
        column, row = bisect_right(self.xs, x) - 1, bisect_right(self.ys, y) - 1
        if 0 <= column < self.columns and 0 <= row < self.rows:
            return self.cell[row][column]
        return -1


def _join(parent: list[int], one: int, other: int) -> None:
    """Make two boxes and all that hang on them one; the smallest number is the root."""
    while parent[one] != one:
        parent[one] = one = parent[parent[one]]
    while parent[other] != other:
        parent[other] = other = parent[parent[other]]
    parent[max(one, other)] = min(one, other)


def _positions(values: list[float]) -> list[float]:
    """Sorted values with neighbours nearer than ``SNAP`` drawn together."""
    found: list[float] = []
    for value in sorted(values):
        if not found or value - found[-1] > SNAP:
            found.append(value)
    return found


def _barriers(rules: list[Rule], at: list[float], along: list[float]) -> list[bytearray]:
    """For each line ``at``, which boxes along it have a rule between them and their neighbour before."""
    middles = [(low + high) / 2 for low, high in itertools.pairwise(along)]
    found = [bytearray(len(middles)) for _ in at]
    for rule in rules:
        line = max(bisect_right(at, rule.at + 0.01) - 1, 0)
        first, last = bisect_left(middles, rule.start), bisect_right(middles, rule.end)
        found[line][first:last] = b"\1" * (last - first)
    return found


def _gaps(barrier: bytearray) -> list[int]:
    """The boxes without a rule."""
    return [box for box, ruled in enumerate(barrier) if not ruled] if 0 in barrier else []


def ruled_tables(words: list[Word], across: list[Rule], down: list[Rule]) -> tuple[list[Table], list[Word]]:
    """Tables, and the words that are in none of them."""
    if not across or not down:
        return [], words
    tables: list[Table] = []
    rest = words
    groups = components(merged(across), merged(down))
    for lines, posts in sorted(groups, key=lambda group: (-len(group[0]) * len(group[1]), group)):
        found, rest = _table(rest, lines, posts)
        tables.extend(found)
    return tables, rest


def _table(words: list[Word], across: list[Rule], down: list[Rule]) -> tuple[list[Table], list[Word]]:
    posts, levels = [rule.at for rule in down], [rule.at for rule in across]
    left, right = min([*posts, *[r.start for r in across]]), max([*posts, *[r.end for r in across]])
    top, bottom = min([*levels, *[r.start for r in down]]), max([*levels, *[r.end for r in down]])
    held = [w for w in words if w.x1 > left and w.x0 < right and w.bottom > top and w.top < bottom]
    if len(held) < 3:
        return [], words
    grid = Grid(across, down)
    if not grid.cell:
        return [], words
    inside: dict[int, list[Word]] = {}
    left, right = grid.xs[0], grid.xs[-1]
    for word in held:
        cell = grid.place((word.x0 + word.x1) / 2, (word.top + word.bottom) / 2)
        if cell >= 0:
            inside.setdefault(cell, []).append(word)
    if not _is_table(inside, grid) or _cuts_text(inside):
        return [], words
    tables = []
    taken: set[int] = set()
    for first, last in _parts(grid, inside):
        names = {name for row in grid.cell[first:last] for name in row}
        seqs = [word.seq for name in names for word in inside.get(name, ())]
        rows = _rows(inside, grid, first, last)
        if len(rows) < 2 or len(rows[0]) < 2 or bulleted(rows):
            continue
        taken.update(seqs)
        box = left, grid.ys[first], right, grid.ys[last]
        tables.append(Table(rows, *box, min(seqs), True, tuple(grid.xs)))
    return tables, [word for word in words if word.seq not in taken] if taken else words


def _parts(grid: Grid, inside: dict[int, list[Word]]) -> list[tuple[int, int]]:
    """Stretches of rows that are one table each.

    Rows of one cell over the full width at the top and bottom are titles and notes, no rows. Between
    rows they part two tables when the columns below are others than above.
    """
    full = [len(set(row)) == 1 for row in grid.cell]
    parts: list[tuple[int, int]] = []
    start: int | None = None
    for row, single in enumerate([*full, True]):
        if start is None and not single:
            start = row
        elif start is not None and single:
            parts.append((start, row))
            start = None
    joined: list[tuple[int, int]] = []
    for part in parts:
        if joined and _walls(grid, inside, *joined[-1]) & _walls(grid, inside, *part):
            above, below = _walls(grid, inside, *joined[-1]), _walls(grid, inside, *part)
            if len(above & below) * 2 >= max(len(above), len(below)):
                joined[-1] = (joined[-1][0], part[1])
                continue
        joined.append(part)
    return joined


def _walls(grid: Grid, inside: dict[int, list[Word]], first: int, last: int) -> set[int]:
    """The columns in which a cell with text starts in rows ``first`` to ``last``."""
    found = set()
    for row in grid.cell[first:last]:
        for column, name in enumerate(row):
            if name in inside and (column == 0 or row[column - 1] != name):
                found.add(column)
    return found


def _is_table(inside: dict[int, list[Word]], grid: Grid) -> bool:
    """False for frames round prose: few cells, or one that holds nearly all the words."""
    if len(inside) < 4 and not (len(inside) >= 3 and min(grid.rows, grid.columns) >= 2):
        return False
    sizes = [len(group) for group in inside.values()]
    return not (max(sizes) > 60 and max(sizes) * 10 > sum(sizes) * 7)


def _cuts_text(inside: dict[int, list[Word]]) -> bool:
    """Whether cell borders run through running text: then the lines are decoration, or a form's."""
    places = sorted((word.seq, cell, word) for cell, group in inside.items() for word in group)
    near = cut = 0
    for (_, cell, left), (_, other, right) in pairwise(places):
        if left.line == right.line and -0.5 < right.x0 - left.x1 < 0.4 * left.style.size:
            near += 1
            cut += cell != other
    return cut >= 3 and cut * 12 > near


def _rows(inside: dict[int, list[Word]], grid: Grid, first: int, last: int) -> list[list[str]]:
    """Cell texts by row; a merged cell's text stands once, at its top left place."""
    rows: list[list[str]] = []
    done: set[int] = set()
    for names in grid.cell[first:last]:
        groups: list[Sequence[Word]] = [()] * len(names)
        for column, name in enumerate(names):
            if name in done or name not in inside:
                continue
            done.add(name)
            width = names.count(name)
            if width == 1:
                groups[column] = inside[name]
                continue
            for place, words in enumerate(cut_cell(inside[name], grid.xs[column : column + width + 1])):
                groups[column + place] = words
        rows.extend(split_rows(groups) or [[cell_text(group) for group in groups]])
    return trimmed(rows)
