"""What the forms of the schema's growth ask for: the fields that were filled in become one change, or the error of one
field. `growth_pages` shows the forms and makes the change."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tidings.errors import SchemaError
from tidings.schema import Catalog, Domain, growth
from tidings.schema.catalog import Attribute, AttributeUse, EventType, UnknownName
from tidings.schema.documents.errors import WrongGrammar, WrongNamespace
from tidings.schema.documents.grammar import Grammar
from tidings.schema.documents.rules import NO_RULES, DocumentRules
from tidings.schema.domain import Kind, RepeatedValue, legal_operators
from tidings.schema.hierarchy import AmbiguousNode, Hierarchy, IllegalNode, RepeatedNode, TooDeep, UnknownNode
from tidings.service.pages.forms.form import Form

MOST_ROWS = 200  # attributes of a new event type
_XSD = "http://www.w3.org/2001/XMLSchema"


class WrongField(SchemaError):
    field: str
    what: str
    template = "{what}"


class Way(NamedTuple):
    """`read` makes the change of a form; `main` is the field that shows errors that name no field."""

    name: str
    title: str
    read: Callable[[Form, Catalog], growth.Change]
    main: str


def _domain(form: Form, catalog: Catalog) -> growth.Change:
    kind_name = form.one("kind")
    if kind_name not in set(Kind):
        raise WrongField("kind", "choose a kind")
    kind = Kind(kind_name)
    values = tuple(_lines(form.one("values"))) if kind is Kind.ENUMERATED else ()
    tree = _tree(form.exactly("tree")) if kind is Kind.HIERARCHICAL else Hierarchy()
    ordered, open = (kind is Kind.ENUMERATED and form.has(flag) for flag in ("ordered", "open"))
    operators = _operators(form, kind, ordered)
    rules = _document_rules(form) if kind is Kind.DOCUMENT else NO_RULES
    return growth.CreateDomain(Domain(_name(form), kind, operators, values, ordered, tree, open, document=rules))


def _document_rules(form: Form) -> DocumentRules:
    text = form.exactly("grammar").strip()
    grammar = Grammar("xsd" if _XSD in text else "dtd", text) if text else None
    namespaces = []
    for line in form.exactly("namespaces").splitlines():
        prefix, equals, space = (part.strip() for part in line.partition("="))
        if not equals and prefix:
            raise WrongField(
                "namespaces", "write a prefix, = and its namespace in each line, e.g. n = urn:example:news"
            )
        if equals:
            namespaces.append((prefix, space))
    return DocumentRules(grammar, form.one("root"), tuple(namespaces))


def _operators(form: Form, kind: Kind, ordered: bool) -> tuple[str, ...] | None:
    """None where nothing was chosen. What the kind lacks is refused, never left out: a domain is for ever, and one
    without any operator chosen would allow all."""
    chosen, legal = tuple(form.filled("operator")), legal_operators(kind, ordered)
    if wrong := " ".join(one for one in chosen if one not in legal):
        which = "an enumeration without an order" if kind is Kind.ENUMERATED and not ordered else f"the kind {kind}"
        raise WrongField("operator", f"{which} allows {' '.join(legal)}, but not {wrong}")
    return chosen or None


def _attribute(form: Form, catalog: Catalog) -> growth.Change:
    if not form.one("domain"):
        raise WrongField("domain", "choose the domain of its values")
    return growth.CreateAttribute(Attribute(_name(form), form.one("domain")))


def _event_type(form: Form, catalog: Catalog) -> growth.Change:
    uses: dict[str, AttributeUse] = {}
    for number in range(MOST_ROWS):
        if name := form.one(f"attribute{number}"):
            if name in uses:
                raise WrongField(f"attribute{number}", f"{name!r} is chosen twice")
            uses[name] = AttributeUse(name, form.has(f"mandatory{number}"), unique=not form.has(f"several{number}"))
    chosen = form.one("headline")
    headline = form.one(f"attribute{chosen}") if chosen.isdecimal() else ""
    return growth.CreateEventType(EventType(_name(form), tuple(uses.values()), headline))


def _extension(form: Form, catalog: Catalog) -> growth.Change:
    event_type, attribute = form.one("event_type"), form.one("attribute")
    if not event_type:
        raise WrongField("event_type", "choose an event type")
    if not attribute:
        raise WrongField("attribute", "choose an attribute")
    found = catalog.event_type(event_type)
    if found is not None and any(use.name == attribute for use in found.attributes):
        raise WrongField("attribute", f"{event_type!r} has {attribute!r} already")
    return growth.ExtendEventType(event_type, AttributeUse(attribute, False, unique=not form.has("several")))


def _headline(form: Form, catalog: Catalog) -> growth.Change:
    if not form.one("event_type"):
        raise WrongField("event_type", "choose an event type")
    if not form.one("attribute"):
        raise WrongField("attribute", "choose an attribute")
    return growth.SetHeadline(form.one("event_type"), form.one("attribute"))


def _value(form: Form, catalog: Catalog) -> growth.Change:
    name = form.one("domain")
    domain = catalog.domain(name)
    if domain is None:
        raise WrongField("domain", "choose a domain")
    if not form.one("value"):
        raise WrongField("value", "write the new value")
    if domain.kind is Kind.HIERARCHICAL:
        return growth.AppendNode(name, form.one("value"), form.one("parent") or None)
    return growth.AppendValue(name, form.one("value"))


WAYS = {
    way.name: way
    for way in (
        Way("domain", "Add a domain", _domain, "name"),
        Way("attribute", "Add an attribute", _attribute, "name"),
        Way("event-type", "Add an event type", _event_type, "name"),
        Way("extension", "Extend an event type", _extension, "attribute"),
        Way("value", "Add a value", _value, "value"),
        Way("headline", "Choose a headline", _headline, "attribute"),
    )
}


def field_of(error: SchemaError, way: Way) -> str:
    """The field that an error belongs to."""
    match error:
        case WrongField():
            return str(error.args[0])
        case UnknownNode() | AmbiguousNode():
            return "parent"
        case RepeatedNode() | IllegalNode() | TooDeep():
            return "tree" if way.name == "domain" else "value"
        case RepeatedValue():
            return "values"
        case WrongGrammar():
            return "grammar"
        case WrongNamespace():
            return "namespaces"
        case UnknownName():
            return {"domain": "domain", "event type": "event_type"}.get(error.args[0], way.main)
        case _:
            return way.main


def _name(form: Form) -> str:
    if not form.one("name"):
        raise WrongField("name", "give it a name")
    return form.one("name")


def _lines(text: str) -> list[str]:
    """One value a line; where there is one line, commas part them, as the thesis's form had it."""
    parts = text.split("\n") if "\n" in text else text.split(",")
    return [part.strip() for part in parts if part.strip()]


def _tree(text: str) -> Hierarchy:
    """One node a line, below the nearest line above that is indented less. A line that goes back must go back as far
    as one above it stands: anything else would be a guess."""
    nodes: list[str] = []
    parents: list[int] = []
    open: list[tuple[int, int]] = []  # how far indented, which node
    for number, line in enumerate(text.expandtabs(4).split("\n"), 1):
        if not (name := line.strip()):
            continue
        indent = len(line) - len(line.lstrip())
        goes_back = bool(open) and indent < open[-1][0]
        if goes_back and all(indent != known for known, _ in open):
            raise WrongField("tree", f"line {number} has an indentation that no line above it has")
        while open and open[-1][0] >= indent:
            open.pop()
        parents.append(open[-1][1] if open else -1)
        open.append((indent, len(nodes)))
        nodes.append(name)
    return Hierarchy(tuple(nodes), tuple(parents))
