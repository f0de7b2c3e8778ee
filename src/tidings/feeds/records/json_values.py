"""The values of JSON and of JSON Lines, with the line of each. A line of JSON Lines that is damaged costs no other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from tidings.feeds.errors import NoRecords, UnreadableFeed
from tidings.feeds.mapping.mapping import Layout
from tidings.feeds.records.json_path import JsonPath
from tidings.feeds.sources.content import Content, decoded
from tidings.feeds.sources.lines import lines
from tidings.schema.values import is_text

CHANGED = "if the source has changed, correct the mapping"
_decode = msgspec.json.Decoder().decode
_MOST_SHOWN = 10_000  # characters of a damaged line


class Damaged(dict[str, Any]):
    """A record that cannot be read: it has no values, so that it is refused and counted, not lost."""

    def __init__(self, line: str, problem: str) -> None:
        super().__init__()
        self.text, self.problem = line.strip()[:_MOST_SHOWN], problem


class JsonLines(list[Any]):
    """The values of JSON Lines, and the line of each."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[int] = []


def json_records(content: Content, layout: Layout) -> Iterator[Any]:
    """The values at `records`, a list's elements each, without damaged ones; JSON Lines are read as a list of them."""
    return (value for _, value in located_values(content, layout) if type(value) is not Damaged)


def located_values(content: Content, layout: Layout) -> Iterator[tuple[int, Any]]:
    """The same with their lines, and damaged ones: lines of JSON Lines are known, those of one document are not."""
    if content.large is not None:
        yield from _large_lines(content, layout)
        return
    nowhere = True
    document = json_document(content, layout)
    of_lines = document.lines if isinstance(document, JsonLines) else ()
    whole = layout.records in ("", "/")
    if not whole:
        yield from ((line, one) for line, one in zip(of_lines, document, strict=False) if type(one) is Damaged)
    for found in JsonPath.parse(layout.records).values(document):
        nowhere = False
        if of_lines and whole:
            yield from zip(of_lines, found, strict=True)
        else:
            yield from ((0, one) for one in (found if isinstance(found, list) else [found]))
    if nowhere:
        raise NoRecords(content.place, f"nothing found at {layout.records!r}; {CHANGED}")


def json_document(content: Content, layout: Layout) -> Any:
    """What it holds, JsonLines where that is several values. Raises UnreadableFeed."""
    text = decoded(content, layout)
    try:
        return _parsed(text)
    except (ValueError, RecursionError) as problem:
        made = JsonLines()
        wrong = 0
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                made.append(_value(line))
                made.lines.append(number)
                wrong += type(made[-1]) is Damaged
        if len(made) > 1 and 2 * wrong <= len(made):
            return made
        raise UnreadableFeed(content.place, _why(problem, made)) from None


def _parsed(text: str) -> Any:
    """In a fifth of the time that `json` takes; that takes what else is usual, such as NaN, and says what is wrong."""
    try:
        return _decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError):
        return json.loads(text)


def _why(problem: Exception, lines: JsonLines) -> str:
    if isinstance(problem, RecursionError):
        return "the JSON is nested too deeply"
    if not isinstance(problem, json.JSONDecodeError):  # an integer of more than 4,300 digits
        return "a number in the JSON is too long"
    if problem.msg.startswith("Extra data") and len(lines) > 1:
        return next(
            f"line {number}: {one.problem}"
            for number, one in zip(lines.lines, lines, strict=True)
            if type(one) is Damaged
        )
    return f"line {problem.lineno}, column {problem.colno}: not valid JSON: {problem.msg}"


def _large_lines(content: Content, layout: Layout) -> Iterator[tuple[int, Any]]:
    """JSON Lines one by one."""
    if layout.records not in ("", "/"):
        decoded(content, layout)  # which says that it is too large
    first = True
    for number, line in enumerate(lines(content, layout, "\n"), 1):
        if not line.strip():
            continue
        value = _value(line)
        if first and type(value) is Damaged:
            decoded(content, layout)
        first = False
        yield number, value


def _value(line: str) -> Any:
    if not is_text(line):
        return Damaged(line, "some of its bytes are not text in the encoding of the file; `encoding` names another")
    try:
        return _parsed(line)
    except RecursionError:
        return Damaged(line, "not valid JSON: nested too deeply")
    except ValueError as problem:
        return Damaged(line, f"not valid JSON: {problem}")
