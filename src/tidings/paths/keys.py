"""A path as one text that needs no other to be understood: the namespaces it speaks of, then the path.

Indexes tell paths apart by it, and plans store it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tidings.paths.parser import parse_path
from tidings.paths.printer import path_text
from tidings.paths.tree import Attribute, Element, Name, Path, Step, Text, atoms

_XML = "http://www.w3.org/XML/1998/namespace"


def path_key(path: Path) -> str:
    """Each namespace in a line, as `prefix=address`; the last line is the path."""
    spaces = {(name.prefix, name.namespace) for name in _names(path.steps)}
    lines = sorted(f"{prefix}={space}" for prefix, space in spaces if space and space != _XML)
    return "\n".join((*lines, path_text(path)))


def path_of_key(key: str) -> Path:
    """What `path_key` was made of; a path has no line breaks, except within texts in quotes."""
    prefixes: dict[str, str] = {}
    while not key.startswith("/"):
        line, _, key = key.partition("\n")
        prefix, _, space = line.partition("=")
        prefixes[prefix] = space
    return parse_path(key, prefixes)


def _names(steps: Sequence[Step]) -> Iterator[Name]:
    for step in steps:
        match step.node:
            case Element(Name() as name) | Attribute(Name() as name):
                yield name
            case Element() | Attribute() | Text():
                pass
        for test in step.tests:
            for atom in atoms(test):
                yield from _names(atom.steps)
