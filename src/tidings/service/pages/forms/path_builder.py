"""What the builder of filters offers for a path into documents: the steps that may come next, and conditions.

A path is built from its text: each offer is the whole path with one step more. Names come from the grammar of the
domain, else from recent documents; where neither knows any, nothing is offered and the path is typed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from xml.parsers.expat import ExpatError

from tidings.documents.observed import observed
from tidings.documents.tree import DocumentNode, read_tree
from tidings.paths.errors import PathError
from tidings.paths.outline import Outline, reached
from tidings.paths.parser import parse_path
from tidings.paths.printer import path_text
from tidings.paths.tree import Element, Path
from tidings.schema.documents.rules import DocumentRules

MOST_DOCUMENTS = 20  # recent ones that are looked at
_LARGEST = 1 << 18  # characters of such a document
_MOST_NODES = 2_000  # of such a document
_MOST_OFFERED = 300  # names of a kind
_XML = "http://www.w3.org/XML/1998/namespace"
_NOT_OFFERED = {"lang", "space", "base", "nil", "schemaLocation", "noNamespaceSchemaLocation"}  # mostly with a prefix
# What is said, the text before and after the value, and whether the value is a number.
_TESTS = (
    ("is", "[. = ", "]", False),
    ("is not", "[. != ", "]", False),
    ("contains", "[contains(., ", ")]", False),
    ("begins with", "[starts-with(., ", ")]", False),
    ("is at least", "[. >= ", "]", True),
    ("is at most", "[. <= ", "]", True),
    ("is more than", "[. > ", "]", True),
    ("is less than", "[. < ", "]", True),
)


class _Known(NamedTuple):
    """An outline, and how paths write its names: one way for each namespace that has a prefix."""

    outline: Outline
    elements: Mapping[str, Sequence[str]]
    attributes: Mapping[str, Sequence[str]]
    told: str


def path_offers(text: str, rules: DocumentRules, documents: Iterable[str] = ()) -> dict[str, Any]:
    """For the page's script. `documents` are recent ones, which are read if the grammar does not tell."""
    path: Path | None = None
    if text.strip():
        try:
            path = parse_path(text.strip(), rules.prefixes)
        except PathError:  # said where the filter is read
            return {"groups": [], "tests": [], "shorter": None, "told": ""}
    known = _by_grammar(rules) or _by_documents(rules, documents)
    shorter = None if path is None else path_text(Path(path.steps[:-1]))
    return {
        "groups": _groups(path, known) if known is not None else [],
        "tests": [] if path is None else _tests(path),
        "shorter": shorter,
        "told": "" if known is None else known.told,
    }


def _groups(path: Path | None, known: _Known) -> list[dict[str, Any]]:
    outline = known.outline
    if path is None:
        anywhere = outline.roots | outline.below(outline.roots)
        return _filled(
            ("Anywhere", _options("//", anywhere, known.elements)),
            ("At the top", _options("/", outline.roots, known.elements)),
        )
    if not isinstance(path.steps[-1].node, Element):
        return []
    at, before = reached(path, outline), path_text(path)
    within = frozenset[str]().union(*(outline.children.get(name, frozenset()) for name in at))
    own = frozenset[str]().union(*(outline.attributes.get(name, frozenset()) for name in at))
    return _filled(
        ("Elements in it", _options(f"{before}/", within, known.elements)),
        ("Elements anywhere below it", _options(f"{before}//", outline.below(at) - within, known.elements)),
        ("Attributes", _options(f"{before}/@", own, known.attributes, "@")),
    )


def _filled(*groups: tuple[str, list[dict[str, str]]]) -> list[dict[str, Any]]:
    return [{"name": name, "options": options} for name, options in groups if options]


def _options(
    before: str, names: Iterable[str], written: Mapping[str, Sequence[str]], sign: str = ""
) -> list[dict[str, str]]:
    found = sorted(one for name in names for one in written.get(name, ()))
    return [{"name": sign + one, "path": before + one} for one in found[:_MOST_OFFERED]]


def _tests(path: Path) -> list[dict[str, Any]]:
    written = path_text(path)
    return [
        {"name": name, "before": written + before, "after": after, "number": is_number}
        for name, before, after, is_number in _TESTS
    ]


def _by_grammar(rules: DocumentRules) -> _Known | None:
    outline = rules.outline
    if outline is None:
        return None
    names = outline.roots.union(outline.children, *outline.children.values())
    elements = {name: _written(name, [outline.spaces.get(name)], rules, is_element=True) for name in names}
    own = frozenset[str]().union(*outline.attributes.values())
    return _Known(outline, elements, {name: (name,) for name in own - _NOT_OFFERED}, "from the grammar")


def _by_documents(rules: DocumentRules, documents: Iterable[str]) -> _Known | None:
    roots: list[DocumentNode] = []
    for document in documents:
        if len(document) <= _LARGEST and len(roots) < MOST_DOCUMENTS:
            with suppress(ExpatError):  # it was valid when it came
                roots.append(read_tree(document, _MOST_NODES))
    if not roots:
        return None
    outline, elements, attributes = observed(roots)
    return _Known(
        outline,
        {name: _written(name, sorted(spaces), rules, is_element=True) for name, spaces in elements.items()},
        {name: _written(name, sorted(spaces), rules, is_element=False) for name, spaces in attributes.items()},
        "from recent documents",
    )


def _written(name: str, spaces: Iterable[str | None], rules: DocumentRules, is_element: bool) -> list[str]:
    """The name as a path has it, for each namespace that it can name. None: the grammar does not say; a name without
    prefix is meant."""
    prefixes = {"xml": _XML} | rules.prefixes
    plain = prefixes.get("", "") if is_element else ""
    made = []
    for space in spaces:
        if space is None or space == plain:
            made.append(name)
        else:
            made += [f"{prefix}:{name}" for prefix, named in prefixes.items() if prefix and named == space][:1]
    return made
