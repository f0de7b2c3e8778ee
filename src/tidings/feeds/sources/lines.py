"""The lines of a source, one after the other; a large file is never in memory as a whole."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tidings.feeds.errors import UnreadableFeed
from tidings.feeds.mapping.mapping import Layout
from tidings.feeds.sources.content import Content, codec, decoded, few_enough, not_text
from tidings.feeds.sources.large_file import BROKEN
from tidings.schema.values import is_text

LONGEST_LINE = 32 << 20  # characters
_ALLOWED = 10  # damaged lines, before their share counts


@contextmanager
def opened(content: Content, layout: Layout, newline: str = "") -> Iterator[io.TextIOBase]:
    """Its text; `newline` as that of `io.StringIO`. Raises UnreadableFeed."""
    if content.large is None:
        yield io.StringIO(decoded(content, layout), newline)
        return
    name = codec(content, content.body, layout)
    with ExitStack() as closing:
        try:
            text = closing.enter_context(content.large.text("utf-8-sig" if name == "utf-8" else name, newline))
        except BROKEN as problem:
            raise UnreadableFeed(content.place, str(problem)) from None
        yield text


def lines(content: Content, layout: Layout, newline: str = "") -> Iterator[str]:
    """With their ends. Raises UnreadableFeed, after those that can be read.

    Single lines that are not text in the encoding are given, with halves of surrogate pairs, which makes their records
    bad; that is said at the end."""
    number, damaged, first = 0, 0, 0
    with opened(content, layout, newline) as text:
        while True:
            try:
                line = text.readline(LONGEST_LINE)
            except UnicodeDecodeError:
                raise UnreadableFeed(content.place, f"after line {number:,}: {not_text(content, layout)}") from None
            except (*BROKEN, zlib.error) as problem:
                raise UnreadableFeed(content.place, f"after line {number:,}: it cannot be read: {problem}") from None
            if not line:
                break
            number += 1
            if not is_text(line):
                damaged, first = damaged + 1, first or number
                if damaged > _ALLOWED and not few_enough(damaged, number):
                    raise UnreadableFeed(content.place, f"line {first:,}: {not_text(content, layout)}")
            if len(line) >= LONGEST_LINE:
                most = f"more than {LONGEST_LINE:,} characters; nothing was read from there on"
                raise UnreadableFeed(content.place, f"line {number:,} has {most}")
            yield line
    if damaged:
        where = f"line {first:,}" if damaged == 1 else f"line {first:,} and {damaged - 1:,} more"
        raise UnreadableFeed(content.place, f"{where}: {not_text(content, layout)}; all others were read")
