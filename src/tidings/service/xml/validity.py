"""Whether a request is valid XML by the DTD of its kind, at one version of the schema.

The daemon keeps one of these for the newest catalog it knows and replaces it as a whole when the schema has grown.
"""

from __future__ import annotations

import io
import re
from threading import Lock
from typing import Any

from lxml import etree

from tidings.errors import Explained, ServiceError, one_of, shown, suggestion
from tidings.schema import Catalog
from tidings.schema.dtd import FILES, dtd
from tidings.service.xml.framing import DEEPEST, Document, MalformedRequest

_MOST_LISTED = 1_000  # names in an enumeration: libxml2 looks through them one by one, 1 ms for 50,000
_LONGEST = 300  # characters of what the validator says

_PARSERS = {
    encoding: etree.XMLParser(
        encoding=encoding,  # whatever the text declares: the framing has read that
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    for encoding in ("utf-8", "us-ascii", "iso-8859-1")
}


class UnknownRequest(Explained, ServiceError):
    """A root element that is not a request."""

    name: str
    template = "<{name:.60}> is not a request{hint}"

    @property
    def hint(self) -> str:
        return suggestion(self.name, tuple(FILES))


class InvalidRequest(Explained, ServiceError):
    """A request that does not have its form: its name, and what is wrong."""

    name: str
    what: str
    template = "{what}; its form is in /dtds/{file}"

    @property
    def file(self) -> str:
        return FILES[self.name]


def parse(document: Document) -> etree._Element:
    """The root element; raises MalformedRequest."""
    try:
        return etree.fromstring(document.text, _PARSERS[document.encoding])
    except etree.XMLSyntaxError as problem:
        line, column = problem.position
        message = re.sub(r"\s*, line \d+, column \d+$", "", problem.msg or "no XML")
        if "Excessive depth" in message:
            message = f"elements are nested more than {DEEPEST} deep"
        raise MalformedRequest(line, max(column, 1), f"not valid XML: {message}") from None


class Validity:
    """A catalog and its DTDs, each made when first needed. Use it from any thread."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        # With this many names, a suggestion for a wrong one may take a second.
        self.wide = len(catalog.attributes) + len(catalog.event_types) + len(catalog.domains) > _MOST_LISTED
        # libxml2 builds a DTD's automata while it validates, so only one thread uses a DTD at a time. The event loop
        # has DTDs of its own: it must not wait for a large document, which takes 0.1 s per 256 KiB.
        self._dtds: dict[tuple[str, bool], etree.DTD] = {}
        self._locks = {True: Lock(), False: Lock()}

    def problem(self, root: etree._Element, *, beside: bool) -> str | None:
        """What the DTD says against the request; `beside`: in a thread beside the event loop. Raises UnknownRequest."""
        name = str(root.tag)
        if name not in FILES:
            raise UnknownRequest(name)
        with self._locks[beside]:
            made = self._dtds.get((name, beside))
            if made is None:
                text = dtd(self.catalog, name, _MOST_LISTED)
                made = self._dtds[name, beside] = etree.DTD(io.BytesIO(text.encode()))
            if made.validate(root):
                return None
            errors: Any = made.error_log
            said = f"line {errors[0].line}: {errors[0].message}"
        return said if len(said) <= _LONGEST else f"{said[:_LONGEST]}…"


def attribute_of(element: etree._Element, name: str, legal: tuple[str, ...] = ()) -> str:
    """Raises InvalidRequest where it is not there, or none of the legal ones."""
    written = element.get(name)
    if written is None:
        raise InvalidRequest(request_of(element), f"<{element.tag}> has no attribute {name!r}")
    if legal and written not in legal:
        raise InvalidRequest(request_of(element), f"{name!r} must be {one_of(legal)}, got {shown(written)}")
    return written


def request_of(element: etree._Element) -> str:
    return str(element.getroottree().getroot().tag)
