"""Generated catalogs and changes: `catalogs()` are odd on purpose, `small_catalogs()` plain, for filters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import get_args

from hypothesis import strategies as st

from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Hierarchy, Kind
from tidings.schema.catalog import RESERVED
from tidings.schema.domain import legal_operators
from tidings.schema.growth import (
    AppendNode,
    AppendValue,
    Change,
    CreateAttribute,
    CreateDomain,
    CreateEventType,
    ExtendEventType,
    SetHeadline,
    SetStatistics,
)
from tidings.schema.hierarchy import NO_PARENT, SEPARATOR, is_node_name
from tidings.schema.statistics import Statistics

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
xml_texts = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")
    | st.sampled_from("\t\n\r ,<>&'\"]"),
    max_size=12,
)
names = (
    st.sampled_from(["price", " price", "price ", "a,b", "1", "2", "<&>", "'", '"', "名前", "not", "x" * 200])
    | st.text(st.characters(exclude_categories=["C", "Z"]) | st.just(" "), min_size=1, max_size=12)
).filter(lambda name: name not in RESERVED and name.isprintable())
simple_names = st.sampled_from("abcdefgh")


@st.composite
def hierarchies(draw: st.DrawFn, words: st.SearchStrategy[str] = texts, most: int = 12) -> Hierarchy:
    """Several roots, any shape: each node hangs below one on the path to the node before, or is a root. Names repeat,
    but not among siblings."""
    few = draw(st.lists(words.filter(is_node_name), unique=True, min_size=1, max_size=max(most // 2, 1)))
    names: list[str] = []
    parents: list[int] = []
    path: list[int] = []
    for name in draw(st.lists(st.sampled_from(few), max_size=most)):
        path = path[: draw(st.integers(0, len(path)))]
        parent = path[-1] if path else NO_PARENT
        if (name, parent) not in zip(names, parents, strict=True):
            path.append(len(names))
            names.append(name)
            parents.append(parent)
    return Hierarchy(tuple(names), tuple(parents))


@st.composite
def domains(draw: st.DrawFn, name: str, words: st.SearchStrategy[str] = texts) -> Domain:
    kind = draw(st.sampled_from(Kind))
    ordered = kind is Kind.ENUMERATED and draw(st.booleans())
    legal = legal_operators(kind, ordered)
    operators = draw(st.none() | st.lists(st.sampled_from(legal), unique=True).map(tuple))
    values = draw(st.lists(words, unique=True, max_size=8)) if kind is Kind.ENUMERATED else []
    hierarchy = draw(hierarchies(words)) if kind is Kind.HIERARCHICAL else Hierarchy()
    open = kind is Kind.ENUMERATED and not ordered and draw(st.booleans())
    return Domain(name, kind, operators, tuple(values), ordered, hierarchy, open)


def _event_types(name: str, attributes: list[str]) -> st.SearchStrategy[EventType]:
    chosen = st.lists(st.sampled_from(attributes), unique=True) if attributes else st.just([])
    return chosen.flatmap(
        lambda used: st.tuples(*(st.builds(AttributeUse, st.just(a), st.booleans(), st.booleans()) for a in used))
    ).flatmap(
        lambda uses: st.sampled_from(["", *(use.name for use in uses)]).map(lambda shown: EventType(name, uses, shown))
    )


@st.composite
def catalogs(
    draw: st.DrawFn,
    words: st.SearchStrategy[str] = texts,
    named: st.SearchStrategy[str] = names,
    most: int = 5,
) -> Catalog:
    """Every kind, subsets of operators, domains that nothing uses, types without attributes, any version."""
    domain_names = draw(st.lists(named, unique=True, max_size=most))
    attribute_names = draw(st.lists(named, unique=True, max_size=most)) if domain_names else []
    type_names = draw(st.lists(named, unique=True, max_size=most))
    return Catalog(
        tuple(draw(domains(name, words)) for name in domain_names),
        tuple(Attribute(name, draw(st.sampled_from(domain_names))) for name in attribute_names),
        tuple(draw(_event_types(name, attribute_names)) for name in type_names),
        draw(st.integers(1, 2**53)),
    )


def small_catalogs() -> st.SearchStrategy[Catalog]:
    """At least a domain, an attribute and an event type; all names and values are single letters."""
    return catalogs(simple_names, simple_names, most=4).filter(
        lambda catalog: any(event_type.attributes for event_type in catalog.event_types)
    )


@st.composite
def legal_changes(draw: st.DrawFn, catalog: Catalog) -> Change:
    """A change that the rules accept: one of those that this catalog has room for."""
    domain_names = [domain.name for domain in catalog.domains]
    attribute_names = [attribute.name for attribute in catalog.attributes]
    enumerated = [domain for domain in catalog.domains if domain.kind is Kind.ENUMERATED]
    hierarchical = [domain for domain in catalog.domains if domain.kind is Kind.HIERARCHICAL]
    used = {t.name: {use.name for use in t.attributes} for t in catalog.event_types}
    unshown = [(t.name, use.name) for t in catalog.event_types for use in t.attributes if use.name != t.headline]
    texts_of = {domain.name for domain in catalog.domains if domain.kind is Kind.TEXT}
    wordy = [attribute.name for attribute in catalog.attributes if attribute.domain in texts_of]
    room = [(t, name) for t in used for name in attribute_names if name not in used[t]]
    possible = {
        CreateDomain: True,
        CreateAttribute: domain_names,
        CreateEventType: True,
        ExtendEventType: room,
        AppendValue: enumerated,
        AppendNode: hierarchical,
        SetHeadline: unshown,
        SetStatistics: wordy,
    }
    rule = draw(st.sampled_from([rule for rule, needed in possible.items() if needed]))
    if rule is CreateDomain:
        return CreateDomain(draw(domains(draw(fresh(names, domain_names)))))
    if rule is CreateAttribute:
        return CreateAttribute(Attribute(draw(fresh(names, attribute_names)), draw(st.sampled_from(domain_names))))
    if rule is CreateEventType:
        return CreateEventType(draw(_event_types(draw(fresh(names, list(used))), attribute_names)))
    if rule is ExtendEventType:
        event_type, name = draw(st.sampled_from(room))
        return ExtendEventType(event_type, AttributeUse(name, mandatory=False, unique=draw(st.booleans())))
    if rule is SetHeadline:
        return SetHeadline(*draw(st.sampled_from(unshown)))
    if rule is SetStatistics:
        return SetStatistics(draw(_statistics(wordy)))
    domain = draw(st.sampled_from(enumerated if rule is AppendValue else hierarchical))
    if rule is AppendValue:
        return AppendValue(domain.name, draw(fresh(texts, list(domain.vocabulary))))
    parent = draw(st.sampled_from([None, *domain.vocabulary]))
    taken = [
        node.rpartition(SEPARATOR)[2] for node in domain.vocabulary if node.rpartition(SEPARATOR)[0] == (parent or "")
    ]
    return AppendNode(domain.name, draw(fresh(texts.filter(is_node_name), taken)), parent)


def _statistics(attributes: Sequence[str]) -> st.SearchStrategy[Statistics]:
    counts = st.integers(0, 9)
    return st.builds(Statistics, st.sampled_from(attributes), counts, st.dictionaries(texts, counts, max_size=2))


def fresh(words: st.SearchStrategy[str], taken: list[str]) -> st.SearchStrategy[str]:
    return words.filter(lambda word: word not in taken)


@st.composite
def any_changes(draw: st.DrawFn, catalog: Catalog) -> Change:
    """A change that may or may not be legal: names that exist are as likely as others."""

    def some(known: Iterable[str], others: st.SearchStrategy[str] = names) -> str:
        return draw(st.sampled_from(tuple(known)) | others if known else others)

    domain_names = [domain.name for domain in catalog.domains]
    attribute_names = [attribute.name for attribute in catalog.attributes]
    match draw(st.sampled_from(get_args(Change))).__name__:
        case "CreateDomain":
            return CreateDomain(draw(domains(some(domain_names))))
        case "CreateAttribute":
            return CreateAttribute(Attribute(some(attribute_names), some(domain_names)))
        case "CreateEventType":
            return CreateEventType(draw(_event_types(some(catalog.event_type_names), attribute_names)))
        case "ExtendEventType":
            use = AttributeUse(some(attribute_names), draw(st.booleans()), draw(st.booleans()))
            return ExtendEventType(some(catalog.event_type_names), use)
        case "SetHeadline":
            return SetHeadline(some(catalog.event_type_names), some(attribute_names))
        case "SetStatistics":
            return SetStatistics(draw(_statistics([some(attribute_names)])))
        case "AppendValue":
            return AppendValue(some(domain_names), draw(texts))
        case _:
            return AppendNode(some(domain_names), draw(texts), draw(st.none() | texts))


def changes(catalog: Catalog) -> st.SearchStrategy[Change]:
    return legal_changes(catalog) | any_changes(catalog)
