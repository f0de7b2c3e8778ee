"""What an index of paths cannot do."""

from __future__ import annotations

from tidings.errors import Explained, TidingsError


class PathIndexError(Explained, TidingsError):
    """The index was asked for something it cannot do."""

    number: int


class PathNumberTaken(PathIndexError):
    template = "path {number:,} exists already; remove it first"


class UnknownPathNumber(PathIndexError):
    template = "no path {number:,}"
