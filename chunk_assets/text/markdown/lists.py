"""The containers: how far lists and quotes go, their items, and the code fences inside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunk_assets.text.markdown import kinds, patterns

if TYPE_CHECKING:
    from chunk_assets.text.markdown.blocks import BlockScanner


def list_end(scanner: BlockScanner, line: int) -> int:
    """The line after the list that begins at ``line``; notes its items, nested ones included."""
    walk = _ListWalk(scanner, line)
    while walk.line < scanner.count and walk.step():
        pass
    return walk.last


class _ListWalk:
    """``line`` is looked at next, ``last`` is the line after the last one that belongs to the list."""

    def __init__(self, scanner: BlockScanner, line: int) -> None:
        self.scanner, self.line, self.last = scanner, line, line
        self.width = 0
        self.in_paragraph = self.empty = self.closed = False
        self._item(line, outer=True)

    def step(self) -> bool:
        """Looks at one line; false when the list ended before it."""
        scanner, line = self.scanner, self.line
        if scanner.kind[line] == kinds.BLANK:
            self.line, self.in_paragraph = line + 1, False
            # An item can't begin with more than one blank line: what follows is not its text.
            self.closed = self.closed or self.empty
            return True
        if scanner.indent[line] >= self.width:
            return not self.closed and self._inside(line)
        if scanner.match(patterns.MARKER, line) and not scanner.match(patterns.THEMATIC, line):
            self._item(line, outer=True)
            return True
        if self.in_paragraph and not scanner.starts_block(line):
            self._take(line + 1)
            return True
        return False

    def _inside(self, line: int) -> bool:
        fence = self.scanner.match(patterns.FENCE, line)
        if fence:
            self._fence(line, fence.group(1) or fence.group(2))
        elif self.scanner.match(patterns.MARKER, line) and not self.scanner.match(patterns.THEMATIC, line):
            self._item(line, outer=False)
        else:
            self._take(line + 1)
        return True

    def _take(self, line: int) -> None:
        self.line = self.last = line
        self.in_paragraph, self.empty = True, False

    def _item(self, line: int, *, outer: bool) -> None:
        scanner = self.scanner
        found = scanner.match(patterns.MARKER, line)
        scanner.items.append(scanner.starts[line])
        blanks = len(found.group(2).expandtabs(4))
        empty = found.end() >= scanner.ends[line]
        if outer:
            marker = len(found.group(1))
            self.width = scanner.indent[line] + marker + (1 if empty or blanks > 4 else blanks)
        fence = patterns.FENCE.match(scanner.text, found.end(), scanner.ends[line])
        if fence:
            self._fence(line, fence.group(1) or fence.group(2))
        else:
            self._take(line + 1)
            self.in_paragraph, self.empty, self.closed = not empty, empty, False

    def _fence(self, line: int, opening: str) -> None:
        """Takes a fence inside an item; it ends with the item where it is not closed."""
        scanner, end = self.scanner, line + 1
        last = end
        while end < scanner.count:
            if scanner.kind[end] != kinds.BLANK:
                if scanner.indent[end] < self.width:
                    break
                last = end + 1
                close = scanner.match(patterns.FENCE_END, end)
                if close and close.group(1).startswith(opening):
                    break
            end += 1
        scanner.nested_fences.append((scanner.starts[line], scanner.ends[last - 1]))
        self._take(last)
        self.in_paragraph = False


def quote_end(scanner: BlockScanner, line: int) -> int:
    """The line after the block quote that begins at ``line``."""
    opening, began = "", line
    while line < scanner.count:
        if scanner.first[line] == ord(">") and scanner.indent[line] < 4:
            after = scanner.content[line] + 1
            opening, began = _quoted_fence(scanner, line, after, opening, began)
        elif scanner.kind[line] == kinds.BLANK or opening or scanner.starts_block(line):
            break
        line += 1
    if opening:
        scanner.nested_fences.append((scanner.starts[began], scanner.ends[line - 1]))
    return line


def _quoted_fence(scanner: BlockScanner, line: int, at: int, opening: str, began: int) -> tuple[str, int]:
    text, end = scanner.text, scanner.ends[line]
    while at < end and text[at] in " \t":
        at += 1
    if opening:
        close = patterns.FENCE_END.match(text, at, end)
        if close and close.group(1).startswith(opening):
            scanner.nested_fences.append((scanner.starts[began], end))
            return "", line
        return opening, began
    fence = patterns.FENCE.match(text, at, end)
    return (fence.group(1) or fence.group(2), line) if fence else ("", line)
