"""The schema at one version, with everything looked up that validation, binding and the pages ask for."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from tidings.errors import SchemaError, WrongArgument, expect, typed
from tidings.schema import display
from tidings.schema.domain import Domain, Kind
from tidings.schema.statistics import Statistics

EVENT_TYPE = "event_type"
LONGEST_NAME = 200
_MOST_VIEWS_KEPT = 4096

# What an event carries besides its attributes; filters test it under these names.
ENVELOPE = {
    "event.id": Domain("event.id", Kind.STRING),
    "event.source": Domain("event.source", Kind.STRING),
    "event.time": Domain("event.time", Kind.TIME),
}
RESERVED = (EVENT_TYPE, *ENVELOPE)
ALWAYS_BOUND = (EVENT_TYPE, "event.id", "event.source")


class IllegalName(SchemaError):
    what: str
    name: object

    def problem(self) -> str:
        if self.name in RESERVED:
            return f"{self.name!r} is reserved and cannot name {self.what} of your own"
        legal = f"a name is text of 1 to {LONGEST_NAME} printable characters"
        return f"{str(self.name)[:60]!r} cannot name {self.what}: {legal}"


class NameTaken(SchemaError):
    what: str
    name: str
    template = "{what} {name!r} exists already; names are never reused, so choose another one"


class UnknownName(SchemaError):
    """Something names what does not exist."""

    what: str
    name: str
    where: str
    known: tuple[str, ...]
    template = "{where}: no {what} {name!r}{hint}"


class InvalidSchema(SchemaError):
    """A schema breaks rules; all of them are listed."""

    problems: tuple[SchemaError, ...]

    def problem(self) -> str:
        return "\n".join(map(str, self.problems))


@dataclass(frozen=True, slots=True)
class Attribute:
    name: str
    domain: str


@dataclass(frozen=True, slots=True)
class AttributeUse:
    """How an event type uses an attribute."""

    name: str
    mandatory: bool = True
    unique: bool = True

    def merged(self, other: AttributeUse) -> AttributeUse:
        """In a view of both: mandatory wins over optional, multiple over unique."""
        return AttributeUse(self.name, self.mandatory or other.mandatory, unique=self.unique and other.unique)


@dataclass(frozen=True, slots=True)
class EventType:
    """`headline` names the attribute that says what an event is about, for people; '' where none does."""

    name: str
    attributes: tuple[AttributeUse, ...] = ()
    headline: str = ""


@dataclass(frozen=True)
class View:
    """What an event of these types must and may bind."""

    event_types: frozenset[str]
    uses: dict[str, AttributeUse] = field(hash=False)

    @property
    def mandatory(self) -> tuple[str, ...]:
        return tuple(use.name for use in self.uses.values() if use.mandatory)


@dataclass(frozen=True)
class Catalog:
    """An immutable schema, `tidings.Schema` to the library's users.

    Equal catalogs have the same declarations; the version counts the changes. `read` takes a file, `from_dict` the
    same as a dict, `infer` makes a schema for data you have."""

    domains: tuple[Domain, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    event_types: tuple[EventType, ...] = ()
    version: int = field(default=1, compare=False)
    statistics: tuple[Statistics, ...] = ()
    _domains: dict[str, Domain] = field(init=False, compare=False, repr=False)
    _domain_of: dict[str, Domain] = field(init=False, compare=False, repr=False)
    _event_types: dict[str, EventType] = field(init=False, compare=False, repr=False)
    _multiple: frozenset[str] = field(init=False, compare=False, repr=False)
    _used: frozenset[str] = field(init=False, compare=False, repr=False)
    _optional: frozenset[str] = field(init=False, compare=False, repr=False)
    _documents: frozenset[str] = field(init=False, compare=False, repr=False)
    _views: dict[frozenset[str], View] = field(init=False, compare=False, repr=False)
    _history: dict[str, tuple[Statistics, ...]] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if problems := tuple(_problems(self.domains, self.attributes, self.event_types)):
            raise InvalidSchema(problems)
        domains = {domain.name: domain for domain in self.domains}
        event_types = {event_type.name: event_type for event_type in self.event_types}
        domain_of = {attribute.name: domains[attribute.domain] for attribute in self.attributes}
        domain_of[EVENT_TYPE] = Domain(EVENT_TYPE, Kind.ENUMERATED, values=tuple(event_types))
        uses = [use for event_type in self.event_types for use in event_type.attributes]
        derived = {
            "_domains": domains,
            "_event_types": event_types,
            "_domain_of": domain_of | ENVELOPE,
            "_multiple": frozenset(use.name for use in uses if not use.unique) | {EVENT_TYPE},
            "_used": frozenset(use.name for use in uses).union(RESERVED),
            "_optional": frozenset(use.name for use in uses if not use.mandatory) | {"event.time"},
            "_documents": frozenset(name for name, one in domain_of.items() if one.kind is Kind.DOCUMENT),
            "_views": {},
            "_history": {},
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Catalog:
        """From a file, JSON or XML; raises SchemaFile. What was put right in it comes as a warning."""
        from tidings.schema.files import read_catalog

        expect(path, (str, os.PathLike), "Schema.read", "path", "the path of a schema file")
        catalog, notes = read_catalog(path)
        for note in notes:
            warnings.warn(f"{os.fspath(path)}: {note}", stacklevel=2)
        return catalog

    @classmethod
    def from_dict(cls, declarations: Mapping[str, Any]) -> Catalog:
        """From the content of a schema file as a dict; raises InvalidSchema or SchemaForm.

        `{"domains": [...], "attributes": [...], "event_types": [...]}`, as docs/schema.md has it."""
        from tidings.schema import json_form

        if not isinstance(declarations, Mapping):
            expected = "a dict with 'domains', 'attributes' and 'event_types'"
            raise WrongArgument("Schema.from_dict", "declarations", expected, typed(declarations))
        return json_form.read(dict(declarations))

    @classmethod
    def infer(cls, events: Any, event_type: str = "event", kinds: Mapping[str, str] | None = None) -> Catalog:
        """A schema for these events: a pandas or polars frame, an Arrow table, dicts.

        Numbers become numeric, timestamps and dates time, text string, Booleans an enumeration of true and false,
        categoricals an enumeration of their categories; lists may have several values. Every attribute is optional.
        There is one event type, named by the argument, unless the events name theirs. `kinds` overrides, for example
        `{"brand": "enumerated", "description": "text"}`."""
        inference = import_module("tidings.events.inference")  # by name: the schema itself knows nothing of Arrow
        inferred: Catalog = inference.infer_schema(events, event_type, kinds)
        return inferred

    def write(self, path: str | os.PathLike[str]) -> None:
        """To a file; its suffix, .json or .xml, says in which form."""
        from tidings.schema.files import write_catalog

        expect(path, (str, os.PathLike), "Schema.write", "path", "the path of a .json or .xml file")
        write_catalog(self, path)

    def to_dict(self) -> dict[str, Any]:
        """What `from_dict` takes."""
        from tidings.schema import json_form

        return json_form.write(self)

    def __repr__(self) -> str:
        return display.summary(self)

    def __str__(self) -> str:
        return display.lines(self)

    def _repr_html_(self) -> str:
        return display.table(self)

    def domain(self, name: str) -> Domain | None:
        return self._domains.get(name)

    def domain_of(self, attribute: str) -> Domain | None:
        """The domain of an attribute, of `event_type` or of an envelope name; None when there is no such."""
        return self._domain_of.get(attribute)

    def event_type(self, name: str) -> EventType | None:
        return self._event_types.get(name)

    @property
    def attribute_names(self) -> tuple[str, ...]:
        """All names a filter may test."""
        return tuple(self._domain_of)

    @property
    def event_type_names(self) -> tuple[str, ...]:
        return tuple(self._event_types)

    def statistics_of(self, attribute: str, position: int | None = None) -> Statistics:
        """How often terms occur in its texts, as an event at this position is compared; without one, the newest."""
        history = self.statistics_history(attribute)
        return history[-1] if position is None else [one for one in history if one.since <= position][-1]

    def statistics_history(self, attribute: str) -> tuple[Statistics, ...]:
        """All that ever weighed, in order; the first, of position 0, is empty where none was declared."""
        known = self._history.get(attribute)
        if known is None:
            known = tuple(sorted((one for one in self.statistics if one.attribute == attribute), key=_since))
            known = known if known and known[0].since == 0 else (Statistics(attribute), *known)
            self._history[attribute] = known
        return known

    def may_be_multiple(self, attribute: str) -> bool:
        """Whether some event type lets the attribute have several values."""
        return attribute in self._multiple

    def may_be_missing(self, attribute: str, event_types: Iterable[str] = ()) -> bool:
        """Whether an event of these types may lack the attribute; without types, whether one that lists it may."""
        if attribute in RESERVED or not event_types:
            return attribute in self._optional
        use = self.view(event_types).uses.get(attribute)
        return use is None or not use.mandatory

    @property
    def document_attributes(self) -> frozenset[str]:
        """The attributes whose values are documents."""
        return self._documents

    def is_used(self, attribute: str) -> bool:
        """Whether any event can bind the attribute."""
        return attribute in self._used

    def view(self, event_types: Iterable[str]) -> View:
        """The union of the types' attributes; unknown types raise UnknownName."""
        key = frozenset(event_types)
        found = self._views.get(key)
        if found is None:
            uses: dict[str, AttributeUse] = {}
            for name in sorted(key):
                event_type = self._event_types.get(name)
                if event_type is None:
                    raise UnknownName("event type", name, "view", self.event_type_names)
                for use in event_type.attributes:
                    uses[use.name] = use.merged(uses[use.name]) if use.name in uses else use
            found = View(key, uses)
            if len(self._views) >= _MOST_VIEWS_KEPT:
                self._views.clear()
            self._views[key] = found
        return found


def _since(statistics: Statistics) -> int:
    return statistics.since


def check_name(what: str, name: object) -> None:
    """Raises IllegalName."""
    legal = isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and name.isprintable()
    if not legal or (what == "an attribute" and name in RESERVED):
        raise IllegalName(what, name)


def _problems(
    domains: tuple[Domain, ...], attributes: tuple[Attribute, ...], event_types: tuple[EventType, ...]
) -> Iterator[SchemaError]:
    """Every rule that the declarations break together."""
    named = (
        ("a domain", [d.name for d in domains]),
        ("an attribute", [a.name for a in attributes]),
        ("an event type", [t.name for t in event_types]),
    )
    for what, names in named:
        for name, count in Counter(names).items():
            try:
                check_name(what, name)
            except IllegalName as problem:
                yield problem
            if count > 1:
                yield NameTaken(what.partition(" ")[2], name)
    domain_names = dict.fromkeys(d.name for d in domains)
    for attribute in attributes:
        if attribute.domain not in domain_names:
            yield UnknownName("domain", attribute.domain, f"attribute {attribute.name!r}", tuple(domain_names))
    known = dict.fromkeys(a.name for a in attributes)
    for event_type in event_types:
        where = f"event type {event_type.name!r}"
        for name, count in Counter(use.name for use in event_type.attributes).items():
            if name not in known:
                yield UnknownName("attribute", name, where, tuple(known))
            if count > 1:
                yield NameTaken(f"{where}: attribute", name)
        used = tuple(use.name for use in event_type.attributes)
        if event_type.headline and event_type.headline not in used:
            yield UnknownName("attribute", event_type.headline, f"{where}: headline", used)
