"""The lines of a source, one after the other; a large file is never in memory as a whole."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tidings.feeds.errors import UnreadableFeed
from tidings.feeds.mapping.mapping import Layout
from tidings.feeds.sources.content import Content, codec, decoded
from tidings.feeds.sources.large_file import BROKEN

LONGEST_LINE = 32 << 20  # characters


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
    """With their ends. Raises UnreadableFeed, after those that can be read."""
    number = 0
    with opened(content, layout, newline) as text:
        while True:
            try:
                line = text.readline(LONGEST_LINE)
            except UnicodeDecodeError as problem:
                advice = "set another with the mapping's `encoding` or --encoding"
                name = problem.encoding.upper()
                raise UnreadableFeed(content.place, f"after line {number:,}: not valid {name}; {advice}") from None
            except (*BROKEN, zlib.error) as problem:
                raise UnreadableFeed(content.place, f"after line {number:,}: it cannot be read: {problem}") from None
            if not line:
                return
            number += 1
            if len(line) >= LONGEST_LINE:
                most = f"more than {LONGEST_LINE:,} characters; nothing was read from there on"
                raise UnreadableFeed(content.place, f"line {number:,} has {most}")
            yield line
