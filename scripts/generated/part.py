"""A generated part of a page, between its two comments, and how a table is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path


class Stale(Exception):
    """What a person must do before the pages can be written."""


def with_part(page: Path, text: str, name: str, part: str) -> str:
    """The page's text with the part made anew."""
    begin, end = f"<!-- {name}: written by `make docs` -->", f"<!-- end of {name} -->"
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise Stale(f"{page.name} has no place for {name!r}: it needs the lines {begin} and {end}")
    body = part.strip("\n")  # blanks before the first line may be an indentation
    return f"{before}{begin}\n\n{body}\n\n{end}{after}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join([_line(header), "|" + "---|" * len(header), *map(_line, rows)])


def _line(cells: Sequence[str]) -> str:
    written = (cell.replace("\n", " ").replace("|", "\\|") for cell in cells)
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in written)
