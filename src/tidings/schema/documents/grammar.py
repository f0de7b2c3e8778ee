"""A domain's grammar: a DTD or an XSD, given whole. Nothing it names is ever fetched.

When a grammar is read, only what costs little is checked: its size, its form, and that it is complete. Compiling is
libxml2's work and is done when the first document comes; `compiling.check_compiles` does it before, within bounds."""

from __future__ import annotations

import io
import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal
from xml.parsers import expat

from lxml import etree

from tidings.paths.outline import Outline
from tidings.schema.documents.errors import WrongGrammar

GrammarKind = Literal["dtd", "xsd"]
LARGEST_GRAMMAR = 2**20  # bytes
LARGEST_ENTITIES = 2**22  # characters, of all that a DTD declares, those within them expanded
_MOST_COMPILED = 32  # kept by a thread
_XSD = "{http://www.w3.org/2001/XMLSchema}"
_GIVEN = "given"  # the name under which expat asks for the grammar itself
_NOT_FETCHED = "it refers to {}; nothing is fetched, so give the grammar as one text"


@dataclass(frozen=True, slots=True)
class Grammar:
    """Raises WrongGrammar."""

    kind: GrammarKind
    text: str

    def __post_init__(self) -> None:
        _facts(self.kind, self.text)

    def __repr__(self) -> str:
        return f"<{self.kind.upper()} of {len(self.text):,} characters>"

    @property
    def entities(self) -> dict[str, str]:
        """Those that it declares as plain characters."""
        return _facts(self.kind, self.text)

    def compiled(self) -> Any:
        """An `etree.DTD` or `etree.XMLSchema` for this thread alone: each keeps the errors of its last document."""
        kept: OrderedDict[Grammar, Any] | None = getattr(_threads, "compiled", None)
        if kept is None:
            kept = _threads.compiled = OrderedDict()
        if self not in kept:
            kept[self] = _compiled(self)
            if len(kept) > _MOST_COMPILED:
                kept.popitem(last=False)
        return kept[self]

    def outline(self, root: str = "") -> Outline:
        """What may be in what. Of an XSD only the names are known, not which is where."""
        return _outline(self, root)


_threads = threading.local()


@lru_cache(maxsize=64)
def _facts(kind: GrammarKind, text: str) -> dict[str, str]:
    """The entities of plain characters. Raises WrongGrammar."""
    try:
        source = text.encode()
    except UnicodeEncodeError:
        raise WrongGrammar(kind, 0, "it contains an unpaired surrogate") from None
    if len(source) > LARGEST_GRAMMAR:
        raise WrongGrammar(kind, 0, f"it has {len(source):,} bytes; at most {LARGEST_GRAMMAR:,} are allowed")
    if kind == "dtd":
        return _dtd_entities(source)
    _xsd_tree(source)
    return {}


def _dtd_entities(source: bytes) -> dict[str, str]:
    """Expat reads the DTD; what it would have to fetch is refused."""
    entities: dict[str, str] = {}
    characters = 0
    parser = expat.ParserCreate("utf-8")
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_ALWAYS)
    inner: list[Any] = []

    def entity(
        name: str, parameter: int, value: str | None, base: Any, system: Any, public: Any, notation: Any
    ) -> None:
        nonlocal characters
        characters += len(value or "")
        if characters > LARGEST_ENTITIES:
            raise WrongGrammar("dtd", 0, f"its entities expand to more than {LARGEST_ENTITIES:,} characters")
        if not parameter and value is not None and not ("<" in value or "&" in value):
            entities.setdefault(name, value)

    def external(context: str, base: Any, system: str | None, public: str | None) -> int:
        if system != _GIVEN or inner:
            line = inner[0].CurrentLineNumber if inner else 0
            raise WrongGrammar("dtd", line, _NOT_FETCHED.format(repr((system or public or "")[:60])))
        inner.append(parser.ExternalEntityParserCreate(context, "utf-8"))
        try:
            inner[0].Parse(source, True)
        except expat.ExpatError as problem:
            raise WrongGrammar("dtd", problem.lineno, expat.ErrorString(problem.code)) from None
        return 1

    parser.EntityDeclHandler, parser.ExternalEntityRefHandler = entity, external
    try:
        parser.Parse(f'<!DOCTYPE r SYSTEM "{_GIVEN}"><r/>'.encode(), True)
    except expat.ExpatError as problem:
        raise WrongGrammar("dtd", 0, expat.ErrorString(problem.code)) from None
    return entities


def _xsd_tree(source: bytes) -> Any:
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_pis=True,
        remove_comments=True,
    )  # fmt: skip
    try:
        root = etree.fromstring(source, parser)
    except etree.XMLSyntaxError as problem:
        raise WrongGrammar("xsd", problem.position[0], problem.msg or "not XML") from None
    if root.getroottree().docinfo.internalDTD is not None:
        raise WrongGrammar("xsd", 1, "it has a document type declaration; leave it out")
    if root.tag != f"{_XSD}schema":
        raise WrongGrammar("xsd", _line(root), f"its root element is {str(root.tag)!r}; expected {_XSD}schema")
    for name in ("include", "redefine", "override", "import"):
        for element in root.iter(f"{_XSD}{name}"):
            if name != "import" or element.get("schemaLocation") is not None:
                what = _NOT_FETCHED.format(repr((element.get("schemaLocation") or "another schema")[:60]))
                raise WrongGrammar("xsd", _line(element), what)
    return root


def _line(element: Any) -> int:
    return int(element.sourceline or 0)


def _compiled(grammar: Grammar) -> Any:
    try:
        if grammar.kind == "dtd":
            return etree.DTD(io.BytesIO(grammar.text.encode()))
        return etree.XMLSchema(_xsd_tree(grammar.text.encode()))
    except (etree.DTDParseError, etree.XMLSchemaParseError) as problem:
        entry = problem.error_log[0] if len(problem.error_log) else None
        line, what = (0, str(problem)) if entry is None else (entry.line, entry.message)
        raise WrongGrammar(grammar.kind, line, what) from None


@lru_cache(maxsize=64)
def _outline(grammar: Grammar, root: str) -> Outline:
    return _dtd_outline(grammar, root) if grammar.kind == "dtd" else _xsd_outline(grammar, root)


def _dtd_outline(grammar: Grammar, root: str) -> Outline:
    children: dict[str, frozenset[str]] = {}
    attributes: dict[str, frozenset[str]] = {}
    texts: set[str] = set()
    declared = list(grammar.compiled().iterelements())
    names = frozenset(element.name for element in declared)
    for element in declared:
        children[element.name] = names if element.type == "any" else frozenset(names_in(element.content))
        attributes[element.name] = frozenset(one.name for one in element.iterattributes())
        if element.type in ("any", "mixed"):
            texts.add(element.name)
    # White space between elements is text, too, except that nothing is in an empty element.
    texts.update(element.name for element in declared if element.type == "element")
    return Outline(frozenset({root}) if root else names, children, attributes, frozenset(texts))


def names_in(content: Any) -> list[str]:
    """The elements that a DTD's content model names, as often as it does."""
    names: list[str] = []
    waiting = [content]
    while waiting:
        one = waiting.pop()
        if one is not None:
            if one.name:
                names.append(one.name)
            waiting += (one.left, one.right)
    return names


def _xsd_outline(grammar: Grammar, root: str) -> Outline:
    tree = _xsd_tree(grammar.text.encode())
    names = frozenset(one.get("name", "") for one in tree.iter(f"{_XSD}element")) - {""}
    attributes = frozenset(one.get("name", "") for one in tree.iter(f"{_XSD}attribute")) - {""}
    open_ended = next(tree.iter(f"{_XSD}any", f"{_XSD}anyAttribute", f"{_XSD}import"), None) is not None
    if open_ended or not names:
        raise NoOutline
    tops = frozenset(one.get("name", "") for one in tree.findall(f"{_XSD}element"))
    used = attributes | {"schemaLocation", "noNamespaceSchemaLocation", "type", "nil", "lang", "space", "base", "id"}
    roots = frozenset({root}) if root else tops
    space = tree.get("targetNamespace", "")
    spaces = dict.fromkeys(names if tree.get("elementFormDefault") == "qualified" else tops, space) if space else {}
    return Outline(roots, dict.fromkeys(names, names), dict.fromkeys(names, frozenset(used)), names, spaces)


class NoOutline(Exception):
    """The grammar allows names that it does not list."""
