"""What is known of a source before its records are read: where they are, and a name for each path to a value."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from tidings.feeds.mapping.mapping import OUTER, Layout

MOST_OFFERED = 3  # paths to records inside the records
_MOST_PATHS = 100  # of JSON, XML and HTML, where paths may be data, as in {"ann": {…}, "bob": {…}}


@dataclass(frozen=True, slots=True)
class Shape:
    """`names` has a name for each path; `remarks` say what has none, and what may be wrong."""

    layout: Layout
    names: dict[str, str]
    remarks: tuple[str, ...] = ()


def cut(layout: Layout, names: dict[str, str], *remarks: str) -> Shape:
    if (more := len(names) - _MOST_PATHS) > 0:
        remarks += (f"{more:,} of {len(names):,} paths are left out; name those you want in the mapping",)
    return Shape(layout, dict(islice(names.items(), _MOST_PATHS)), remarks)


def offer(path: str) -> str:
    return f"at {path!r} are records inside the records; --each {path!r} makes events of them"


def outer(around: dict[str, str], inner: dict[str, str], prefix: str) -> dict[str, str]:
    """What the record around says, by the paths that look into it; its names begin with that of the record."""
    taken = set(inner.values())
    return {
        f"{OUTER}{path}": f"{prefix}_{name}" if name in taken or name == "id" else name for path, name in around.items()
    }
