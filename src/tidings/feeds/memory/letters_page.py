"""The dead letters of a feed as one page for a browser: counted by fault, then each with its place, reasons and record.

The file needs nothing else: no server, no script, no picture."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from tidings.feeds.memory.dead_letters import DeadLetters

_HEAD = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; margin: 2rem; max-width: 75rem }}
table {{ border-collapse: collapse }} td, th {{ text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0 }}
tr + tr {{ border-top: 1px solid #ccc }} td {{ overflow-wrap: anywhere }}
</style>
<h1>{title}</h1>
"""


def letters_page(feed: str, letters: DeadLetters) -> str:
    return "".join(_parts(feed, letters))


def _parts(feed: str, letters: DeadLetters) -> Iterator[str]:
    count = len(letters)
    yield _HEAD.format(title=escape(f"{feed}: {count:,} refused record{'' if count == 1 else 's'}"))
    if letters.beyond:
        yield f"<p>{'At least ' if letters.more else ''}{letters.beyond:,} older ones are not kept.</p>\n"
    yield "<table>\n<tr><th>Count<th>Fault\n"
    for fault, times in letters.faults().most_common():
        yield f"<tr><td>{times:,}<td>{escape(fault)}\n"
    yield "</table>\n<h2>Records</h2>\n<table>\n<tr><th>Place<th>Event<th>Refused because<th>Record\n"
    for letter in letters.letters.values():
        cells = (place_of(letter), str(letter["id"]), _reasons(letter), _record(letter))
        yield "<tr>" + "".join(f"<td>{escape(cell)}" for cell in cells) + "\n"
    yield "</table>\n</html>\n"


def place_of(letter: dict[str, Any]) -> str:
    """`cars.csv: line 17`."""
    where = f"line {letter['line']:,}" if "line" in letter else f"record {letter['number']:,}"
    return f"{letter['file']}: {where}"


def _reasons(letter: dict[str, Any]) -> str:
    return "; ".join(f"{error.get('rule')}: {error.get('message')}" for error in letter["errors"])


def _record(letter: dict[str, Any]) -> str:
    return "; ".join(f"{path}: {', '.join(map(str, values))}" for path, values in letter["record"].items() if values)
