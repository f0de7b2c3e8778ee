"""What a document domain asks of its values beside being XML, and the one form in which a value is kept.

The canonical form is C14N 1.0 without comments, so equal documents are equal texts. Entities are resolved in it, and it
has no document type declaration."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from typing import Any

from lxml import etree

from tidings.paths.outline import Outline
from tidings.schema.documents.errors import (
    DocumentTooLarge,
    InvalidDocument,
    MalformedDocument,
    WrongNamespace,
    WrongRoot,
)
from tidings.schema.documents.grammar import Grammar, NoOutline
from tidings.schema.documents.limits import LIMITS
from tidings.schema.documents.wellformed import checked, place_of_element

_NAME = re.compile(r"[^\W\d][\w.\-]*")
_CANONICAL = "bytes in its canonical form"
_threads = threading.local()


@dataclass(frozen=True, slots=True)
class DocumentRules:
    """`root` may have a prefix; the empty prefix applies to elements without one."""

    grammar: Grammar | None = None
    root: str = ""
    namespaces: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        for prefix, namespace in self.namespaces:
            if prefix and not _NAME.fullmatch(prefix):
                raise WrongNamespace(prefix, "a prefix is a name, e.g. 'n', or empty")
            if prefix in ("xml", "xmlns") or not namespace:
                what = "it is XML's own" if namespace else "its namespace is empty"
                raise WrongNamespace(prefix, what)
        prefix, colon, _ = self.root.rpartition(":")
        if colon and prefix not in self.prefixes:
            raise WrongNamespace(prefix, f"the root {self.root!r} needs it, but it has no namespace")

    @property
    def prefixes(self) -> dict[str, str]:
        return dict(self.namespaces)

    @property
    def outline(self) -> Outline | None:
        """What valid documents may have in them, where the grammar says so."""
        if self.grammar is None:
            return None
        try:
            return self.grammar.outline(self.root.rpartition(":")[2])
        except NoOutline:
            return None

    def canonical(self, document: str | bytes) -> str:
        """Raises DocumentError."""
        raw = _encoded(document) if isinstance(document, str) else document
        if len(raw) > LIMITS.size:
            raise DocumentTooLarge(0, 0, "bytes", LIMITS.size)
        source = checked(raw, LIMITS, self.grammar.entities if self.grammar else None)
        try:
            root = etree.fromstring(source, _parser())
        except etree.XMLSyntaxError as problem:
            line, column = problem.position
            raise MalformedDocument(line, column, problem.msg or "not XML") from None
        self._check_root(root, source)
        if self.grammar is not None:
            _validate(root, self.grammar.compiled(), source)
        return _canonical(root.getroottree(), min(LIMITS.size, LIMITS.growth * len(source)))

    def _check_root(self, root: Any, source: bytes) -> None:
        if not self.root:
            return
        prefix, _, local = self.root.rpartition(":")
        namespace = self.prefixes.get(prefix, "")
        if root.tag != (f"{{{namespace}}}{local}" if namespace else local):
            raise WrongRoot(*place_of_element(source, 0), str(root.tag), self.root)


NO_RULES = DocumentRules()


def _canonical(tree: Any, largest: int) -> str:
    """C14N 1.0 does not speak of namespaces that are relative addresses, as some real documents have; 2.0 does, but
    repeats them on each element: 241 KB became 41 MB."""
    try:
        written: bytes = etree.tostring(tree, method="c14n", with_comments=False)
    except etree.C14NError:
        bounded = _Bounded(largest)
        etree.canonicalize(tree, out=bounded)
        return "".join(bounded.pieces)
    if len(written) > largest:
        raise DocumentTooLarge(0, 0, _CANONICAL, largest)
    return written.decode()


class _Bounded:
    """What is written to it, until there is too much."""

    def __init__(self, largest: int) -> None:
        self.pieces: list[str] = []
        self._largest = self._left = largest

    def write(self, text: str) -> None:
        self._left -= len(text.encode())
        if self._left < 0:
            raise DocumentTooLarge(0, 0, _CANONICAL, self._largest)
        self.pieces.append(text)


def _encoded(document: str) -> bytes:
    """As UTF-8, whatever its declaration says: it has been decoded."""
    try:
        source = document.encode()
    except UnicodeEncodeError as problem:
        line = document.count("\n", 0, problem.start) + 1
        column = problem.start - document.rfind("\n", 0, problem.start)
        bytes_left = "\udc80" <= document[problem.start] <= "\udcff"  # of what was not UTF-8
        raise MalformedDocument(line, column, "not UTF-8" if bytes_left else "unpaired surrogate") from None
    return b"\xef\xbb\xbf" + source.removeprefix(b"\xef\xbb\xbf")


def _parser() -> Any:
    """One for each thread."""
    parser = getattr(_threads, "parser", None)
    if parser is None:
        parser = _threads.parser = etree.XMLParser(
            encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True,
            remove_comments=True,
        )  # fmt: skip
    return parser


def _validate(root: Any, compiled: Any, source: bytes) -> None:
    try:
        if compiled.validate(root.getroottree()):
            return
    except etree.XMLSchemaValidateError:  # libxml2 gives up after ten million steps
        raise InvalidDocument(0, 0, "matching a value with a pattern of the grammar takes too long") from None
    problem = compiled.error_log[0]
    line, column = _place(root, problem.path, source)
    raise InvalidDocument(line or problem.line, column, " ".join(problem.message.split()))


def _place(root: Any, path: str | None, source: bytes) -> tuple[int, int]:
    """Of the element that a validator's path names."""
    try:
        (element,) = root.getroottree().xpath(path or "/*")
    except (etree.XPathError, ValueError):
        return 0, 0
    if not isinstance(element.tag, str):
        element = element.getparent()
    number = next((number for number, one in enumerate(root.iter(etree.Element)) if one is element), 0)
    return place_of_element(source, number)
