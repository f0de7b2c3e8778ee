"""The schema as JSON: `read` and `write` a catalog, `read_change` and `write_change` one step of its growth.

{"domains": [{"name": "brand", "kind": "enumerated", "values": ["opel", "mini"]}],
 "attributes": [{"name": "brand", "domain": "brand"}],
 "event_types": [{"name": "car", "attributes": [{"name": "brand", "mandatory": true, "unique": true}]}]}
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar, assert_never, cast

from tidings.errors import SchemaError, one_of, shown, suggestion
from tidings.schema import growth
from tidings.schema.catalog import Attribute, AttributeUse, Catalog, EventType, InvalidSchema
from tidings.schema.documents.grammar import Grammar, GrammarKind
from tidings.schema.documents.rules import DocumentRules
from tidings.schema.domain import Domain, Kind, legal_operators
from tidings.schema.hierarchy import LEVELS, Hierarchy, RepeatedNode
from tidings.schema.statistics import Statistics

T = TypeVar("T")


class SchemaForm(SchemaError):
    """The text does not have the form of a schema, JSON or XML."""

    place: str
    what: str

    def problem(self) -> str:
        return f"{self.place}: {self.what}" if self.place else self.what


class _Repeated(dict[str, Any]):
    """A JSON object in which a key stood twice: remembered, since it is an error only in some places."""

    key: str


def parse(text: str | bytes) -> Any:
    """JSON with NaN refused and repeated keys noticed; raises SchemaForm with line and column."""
    try:
        if isinstance(text, bytes):
            text = text.decode()
        return json.loads(text.removeprefix("\ufeff"), object_pairs_hook=_pairs, parse_constant=_no_constant)
    except UnicodeDecodeError as problem:
        raise SchemaForm("", f"byte {problem.start}: not UTF-8 text") from None
    except json.JSONDecodeError as problem:
        raise SchemaForm(f"line {problem.lineno}, column {problem.colno}", f"not JSON: {problem.msg}") from None
    except ValueError:  # an integer of more than 4,300 digits, which Python refuses to convert
        raise SchemaForm("", "a number in the JSON is too long") from None
    except RecursionError:
        raise SchemaForm("", "the JSON is nested too deeply") from None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        repeated = _Repeated(made)
        repeated.key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        return repeated
    return made


def _no_constant(name: str) -> float:
    raise SchemaForm("", f"{name} is not a number")


def read(text: str | bytes | dict[str, Any]) -> Catalog:
    """A catalog from JSON; raises InvalidSchema or SchemaForm with everything that is wrong."""
    document = text if isinstance(text, dict) else parse(text)
    fields = _object(document, "", {"domains", "attributes", "event_types", "version", "statistics"})
    problems: list[SchemaError] = []
    domains = _each(fields, "domains", read_domain, problems)
    attributes = _each(fields, "attributes", read_attribute, problems)
    event_types = _each(fields, "event_types", read_event_type, problems)
    statistics = _each(fields, "statistics", read_statistics, problems)
    version = fields.get("version", 1)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        problems.append(SchemaForm("version", f"expected a positive integer, got {shown(version)}"))
    try:
        catalog = Catalog(domains, attributes, event_types, version if not problems else 1, statistics)
    except InvalidSchema as invalid:
        # Names that only seem to dangle because their declaration was unreadable would be noise.
        raise InvalidSchema(tuple(problems) or invalid.problems) from None
    if problems:
        raise InvalidSchema(tuple(problems))
    return catalog


def write(catalog: Catalog) -> dict[str, Any]:
    counted = [write_statistics(one) for one in catalog.statistics]
    return {
        "version": catalog.version,
        "domains": [write_domain(domain) for domain in catalog.domains],
        "attributes": [{"name": a.name, "domain": a.domain} for a in catalog.attributes],
        "event_types": [write_event_type(event_type) for event_type in catalog.event_types],
        **({"statistics": counted} if counted else {}),
    }


def write_statistics(counted: Statistics) -> dict[str, Any]:
    since = {"since": counted.since} if counted.since else {}
    return {"attribute": counted.attribute, "texts": counted.texts, "frequencies": dict(counted.frequencies), **since}


def read_statistics(raw: Any, place: str = "statistics") -> Statistics:
    """`{"attribute": "body", "texts": 100, "frequencies": {"bank": 7}}`; of a journal's, also the position since which
    they weigh."""
    fields = _object(raw, place, {"attribute", "texts", "frequencies", "since"})
    texts: Any = fields.get("texts")
    found = fields.get("frequencies", {})
    if not _is_count(texts):
        raise SchemaForm(f"{place}.texts", f"expected the number of texts, got {shown(texts)}")
    if not isinstance(found, dict) or not all(map(_is_count, found.values())):
        raise SchemaForm(f"{place}.frequencies", "expected the number of texts with each term")
    if not _is_count(since := fields.get("since", 0)):
        raise SchemaForm(f"{place}.since", f"expected a position in the journal, got {shown(since)}")
    return Statistics(_text(fields, "attribute", place), texts, found, since)


def _is_count(raw: Any) -> bool:
    return isinstance(raw, int) and not isinstance(raw, bool) and raw >= 0


_DOMAIN_MEMBERS = {
    "name", "kind", "operators", "values", "ordered", "open", "tree", "language", "grammar", "root", "namespaces",
}  # fmt: skip


def read_domain(raw: Any, place: str = "domain") -> Domain:
    fields = _object(raw, place, _DOMAIN_MEMBERS)
    name = _text(fields, "name", place)
    place = f"{place} {name!r}"
    kind_name = _text(fields, "kind", place)
    if kind_name not in set(Kind):
        raise SchemaForm(place, f"no kind {kind_name!r}{suggestion(kind_name, tuple(str(kind) for kind in Kind))}")
    kind = Kind(kind_name)
    if "values" in fields and kind is not Kind.ENUMERATED:
        raise SchemaForm(place, f"'values' belongs to enumerated domains; this one is {kind}")
    if "tree" in fields and kind is not Kind.HIERARCHICAL:
        raise SchemaForm(place, f"'tree' belongs to hierarchical domains; this one is {kind}")
    for flag in ("ordered", "open"):
        if flag in fields and kind is not Kind.ENUMERATED:
            raise SchemaForm(place, f"{flag!r} belongs to enumerated domains; this one is {kind}")
    operators = None
    if fields.get("operators") is not None:
        operators = _texts(fields, "operators", place)
    values = _texts(fields, "values", place) if kind is Kind.ENUMERATED else ()
    hierarchy = Hierarchy.from_tree(_tree(fields.get("tree", {}), place))
    ordered, open = (_flag(fields, flag, False, place) for flag in ("ordered", "open"))
    language = _text(fields, "language", place) if fields.get("language") is not None else None
    return Domain(name, kind, operators, values, ordered, hierarchy, open, language, _document_rules(fields, place))


def _document_rules(fields: dict[str, Any], place: str) -> DocumentRules:
    """`"grammar": {"dtd": "<!ELEMENT …>"}, "root": "nitf", "namespaces": {"n": "urn:…"}`."""
    grammar = None
    if fields.get("grammar") is not None:
        within = _object(fields["grammar"], f"{place}, grammar", {"dtd", "xsd"})
        if len(within) != 1:
            raise SchemaForm(place, "'grammar' has one member, 'dtd' or 'xsd', with the whole text")
        kind: GrammarKind = "dtd" if "dtd" in within else "xsd"
        grammar = Grammar(kind, _text(within, kind, f"{place}, grammar"))
    root = _text(fields, "root", place) if fields.get("root") is not None else ""
    namespaces = fields.get("namespaces")
    if namespaces is None:
        return DocumentRules(grammar, root)
    declared = _object(namespaces, f"{place}, namespaces", set(namespaces) if isinstance(namespaces, dict) else set())
    return DocumentRules(grammar, root, tuple((name, _any_text(declared, name, place)) for name in declared))


def write_domain(domain: Domain) -> dict[str, Any]:
    written: dict[str, Any] = {"name": domain.name, "kind": str(domain.kind)}
    if domain.operators != legal_operators(domain.kind, domain.ordered):
        written["operators"] = list(domain.operators or ())
    if domain.kind is Kind.ENUMERATED:
        written |= {"values": list(domain.values), "ordered": domain.ordered} | ({"open": True} if domain.open else {})
    if domain.kind is Kind.HIERARCHICAL:
        written["tree"] = domain.hierarchy.tree()
    if domain.language is not None:
        written["language"] = domain.language
    rules = domain.document
    if rules.grammar is not None:
        written["grammar"] = {rules.grammar.kind: rules.grammar.text}
    if rules.root:
        written["root"] = rules.root
    if rules.namespaces:
        written["namespaces"] = rules.prefixes
    return written


def read_attribute(raw: Any, place: str = "attribute") -> Attribute:
    fields = _object(raw, place, {"name", "domain"})
    return Attribute(_text(fields, "name", place), _text(fields, "domain", place))


def read_event_type(raw: Any, place: str = "event type") -> EventType:
    fields = _object(raw, place, {"name", "attributes", "headline"})
    name = _text(fields, "name", place)
    headline = _text(fields, "headline", f"{place} {name!r}") if fields.get("headline") is not None else ""
    uses = fields.get("attributes", [])
    if not isinstance(uses, list):
        raise SchemaForm(f"{place} {name!r}", f"'attributes' must be a list, got {shown(uses)}")
    read = tuple(read_use(use, f"{place} {name!r}, attribute {i}") for i, use in enumerate(uses))
    return EventType(name, read, headline)


def read_use(raw: Any, place: str = "attribute", mandatory: bool = True) -> AttributeUse:
    """`mandatory` is what holds when the text is silent: a type's own attributes are, an extension's not."""
    fields = _object(raw, place, {"name", "mandatory", "unique"})
    return AttributeUse(
        _text(fields, "name", place),
        _flag(fields, "mandatory", mandatory, place),
        _flag(fields, "unique", True, place),
    )


def write_event_type(event_type: EventType) -> dict[str, Any]:
    written = {"name": event_type.name, "attributes": [write_use(use) for use in event_type.attributes]}
    return written | ({"headline": event_type.headline} if event_type.headline else {})


def write_use(use: AttributeUse) -> dict[str, Any]:
    return {"name": use.name, "mandatory": use.mandatory, "unique": use.unique}


CHANGES = {
    "create_domain": {"domain"},
    "create_attribute": {"attribute"},
    "create_event_type": {"event_type"},
    "extend_event_type": {"event_type", "attribute"},
    "append_value": {"domain", "value"},
    "append_node": {"domain", "node", "parent"},
    "set_headline": {"event_type", "attribute"},
    "set_statistics": {"attribute", "texts", "frequencies"},
}


def read_change(raw: Any, place: str = "change") -> growth.Change:
    """One growth step: `{"change": "append_value", "domain": "brand", "value": "audi"}`."""
    fields = _object(raw, place, {"change", *(name for names in CHANGES.values() for name in names)})
    change = _text(fields, "change", place)
    if change not in CHANGES:
        raise SchemaForm(place, f"no change {change!r}{suggestion(change, tuple(CHANGES))}")
    _object(raw, f"{place} ({change})", {"change", *CHANGES[change]})
    match change:
        case "create_domain":
            return growth.CreateDomain(read_domain(fields.get("domain")))
        case "create_attribute":
            return growth.CreateAttribute(read_attribute(fields.get("attribute")))
        case "create_event_type":
            return growth.CreateEventType(read_event_type(fields.get("event_type")))
        case "extend_event_type":
            use = read_use(fields.get("attribute"), place, mandatory=False)
            return growth.ExtendEventType(_text(fields, "event_type", place), use)
        case "append_value":
            return growth.AppendValue(_text(fields, "domain", place), _any_text(fields, "value", place))
        case "append_node":
            parent = None if fields.get("parent") is None else _any_text(fields, "parent", place)
            return growth.AppendNode(_text(fields, "domain", place), _any_text(fields, "node", place), parent)
        case "set_headline":
            return growth.SetHeadline(_text(fields, "event_type", place), _text(fields, "attribute", place))
        case "set_statistics":
            counted = {name: value for name, value in fields.items() if name != "change"}
            return growth.SetStatistics(read_statistics(counted, place))
        case _:
            raise AssertionError(f"a change is in CHANGES but is not read: {change}")


def write_change(change: growth.Change) -> dict[str, Any]:
    match change:
        case growth.CreateDomain(domain):
            return {"change": "create_domain", "domain": write_domain(domain)}
        case growth.CreateAttribute(attribute):
            written = {"name": attribute.name, "domain": attribute.domain}
            return {"change": "create_attribute", "attribute": written}
        case growth.CreateEventType(event_type):
            return {"change": "create_event_type", "event_type": write_event_type(event_type)}
        case growth.ExtendEventType(event_type_name, use):
            return {"change": "extend_event_type", "event_type": event_type_name, "attribute": write_use(use)}
        case growth.AppendValue(name, value):
            return {"change": "append_value", "domain": name, "value": value}
        case growth.AppendNode(name, node, parent):
            return {"change": "append_node", "domain": name, "node": node, "parent": parent}
        case growth.SetHeadline(event_type_name, attribute_name):
            return {"change": "set_headline", "event_type": event_type_name, "attribute": attribute_name}
        case growth.SetStatistics(statistics):
            return {"change": "set_statistics", **write_statistics(replace(statistics, since=0))}
        case _:
            assert_never(change)


def _each(
    fields: dict[str, Any], name: str, reader: Callable[[Any, str], T], problems: list[SchemaError]
) -> tuple[T, ...]:
    """Reads each item of a list; what is wrong goes to `problems` and does not stop the others."""
    items = fields.get(name, [])
    if not isinstance(items, list):
        problems.append(SchemaForm(name, f"expected a list, got {shown(items)}"))
        return ()
    made = []
    for number, item in enumerate(items):
        try:
            made.append(reader(item, f"{name}[{number}]"))
        except SchemaError as problem:
            problems.append(problem)
    return tuple(made)


def _object(raw: Any, place: str, known: set[str]) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise SchemaForm(place, f"expected an object, got {shown(raw)}")
    if isinstance(raw, _Repeated):
        raise SchemaForm(place, f"the member {raw.key!r} occurs twice")
    for name in raw:
        if name not in known:
            raise SchemaForm(place, f"no member {name!r}{suggestion(str(name), tuple(sorted(known)))}")
    return raw


def _text(fields: dict[str, Any], name: str, place: str) -> str:
    value = _any_text(fields, name, place)
    if not value:
        raise SchemaForm(place, f"{name!r} must not be empty")
    return value


def _any_text(fields: dict[str, Any], name: str, place: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        what = "is missing" if value is None else f"must be text, got {shown(value)}"
        raise SchemaForm(place, f"{name!r} {what}")
    return value


def _texts(fields: dict[str, Any], name: str, place: str) -> tuple[str, ...]:
    values = fields.get(name, [])
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise SchemaForm(place, f"{name!r} must be a list of texts, got {shown(values)}")
    return tuple(values)


def _flag(fields: dict[str, Any], name: str, default: bool, place: str) -> bool:
    value = fields.get(name, default)
    if not isinstance(value, bool):
        raise SchemaForm(place, f"{name!r} must be {one_of((True, False))}, got {shown(value)}")
    return value


def _tree(tree: Any, place: str) -> dict[str, Any]:
    """The nested mappings, checked without recursion; Hierarchy refuses what is too deep."""
    waiting = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        if not isinstance(node, dict):
            raise SchemaForm(place, f"'tree' is made of nested objects, got {shown(node)}")
        if isinstance(node, _Repeated):
            raise RepeatedNode(node.key)
        for name, below in node.items():
            if not isinstance(name, str):
                raise SchemaForm(place, f"the names in 'tree' must be text, got {shown(name)}")
            if depth < LEVELS:
                waiting.append((below, depth + 1))
    return cast(dict[str, Any], tree)
