"""One raw event in, one valid `Event` out, or everything that is wrong with it.

The raw event is the parsed JSON object `{"id", "source", "time", "contact", "event_type", "attributes"}`.
This is the one place that knows the rules of an event's content: the gateway calls it for each event, the
bulk readers (`columns`) only for the rows that they doubt, so that all give the same answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tidings.errors import expect, suggestion
from tidings.events.event import Event
from tidings.events.refusal import BrokenRule, RefusedEvent, Rule, cut, described, kept
from tidings.schema import Catalog, Domain, Instant, Kind
from tidings.schema.catalog import ENVELOPE, EVENT_TYPE, RESERVED
from tidings.schema.domain import OutsideDomain
from tidings.schema.values import Place, Value

__all__ = ["BrokenRule", "RefusedEvent", "validate", "write_event"]

MEMBERS = ("id", "source", "time", "contact", EVENT_TYPE, "attributes")
LONGEST_ID = 1000
MOST_VALUES = 1_000  # different ones of one attribute in one event; the service may be set to allow more or fewer
MOST_TOLD = 100  # broken rules of one event; of the others only their number is told
_LONGEST_MESSAGE = 1_000  # characters; those that are longer show a name of the event
_MOST_HINTS = 10  # of these rules say what may have been meant
_MOST_COMPARED = 5_000  # words for the hints of one event; each takes some 25 µs, and whoever publishes waits meanwhile
FARTHEST_AHEAD = 5 * 60 * 1_000_000  # microseconds that a publisher's clock may run before ours
_NESTED = "a value is one number or text, or a list of them"
_NO_TEXT = "it contains an unpaired surrogate"


class _Broken(list[BrokenRule]):
    """The rules found broken so far; those beyond the first are only counted, lest an answer outgrows its event."""

    def __init__(self, hints: bool) -> None:
        super().__init__()
        self._more = 0
        self._to_compare = _MOST_COMPARED if hints else 0

    @property
    def full(self) -> bool:
        return len(self) >= MOST_TOLD

    def add(self, rule: Rule, attribute: str | None, value: object, message: str) -> None:
        if self.full:
            self._more += 1
        else:
            name = None if attribute is None else cut(attribute)
            self.append(BrokenRule(rule, name, kept(value), cut(message, _LONGEST_MESSAGE)))

    def hints_among(self, words: int) -> bool:
        """Whether the next rule may be told with the nearest of so many words, which then count as compared."""
        if len(self) >= _MOST_HINTS or words > self._to_compare:
            return False
        self._to_compare -= words
        return True

    def hint(self, name: str, known: Sequence[str]) -> str:
        return suggestion(name, known) if self.hints_among(len(known)) else ""

    def refusal(self, id: str | None) -> RefusedEvent:
        if self._more:
            message = f"{self._more:,} more errors omitted; fix these to see the rest"
            self.append(BrokenRule("form", None, None, message))
        return RefusedEvent(id, tuple(self))


def validate(
    raw: object,
    catalog: Catalog,
    accepted: Instant | None = None,
    hints: bool = True,
    most_values: int | None = MOST_VALUES,
) -> Event:
    """The event as the inside of Tidings knows it; raises RefusedEvent with the rules it breaks.

    `accepted` is the time of acceptance, if there is one: occurrence times long after it are refused. Looking for what
    was meant takes longer than everything else; without `hints` it is left out. `most_values` limits the values of one
    attribute; None, for events that were accepted before, allows any number.
    """
    expect(catalog, Catalog, "validate", "catalog", "a tidings.Schema")
    broken = _Broken(hints)
    if not isinstance(raw, dict):
        example = '{"id": "e1", "event_type": "car", "attributes": {"price": 900}}'
        broken.add("form", None, raw, f"{described(raw)} is not an event; an event is an object like {example}")
        raise broken.refusal(None)
    for name in raw:
        if name not in MEMBERS:
            if catalog.domain_of(str(name)) is not None:
                message = f"attribute {name!r} must be inside 'attributes'"
            else:
                message = f"an event has no member {name!r}{broken.hint(str(name), MEMBERS)}"
            broken.add("form", str(name), raw[name], message)
    id = _id(raw.get("id"), broken)
    source = _text("source", raw.get("source"), broken)
    time = _time(raw.get("time"), accepted, broken)
    contact = _text("contact", raw.get("contact"), broken)
    event_types, unknown_type = _event_types(raw.get(EVENT_TYPE), catalog, broken)
    _check_count(EVENT_TYPE, raw.get(EVENT_TYPE), len(event_types), most_values, broken)
    attributes = _attributes(raw.get("attributes"), event_types, unknown_type, catalog, broken, most_values)
    if broken:
        raise broken.refusal(id or None)
    return Event(id, event_types, attributes, source or "", time, contact)


def write_event(event: Event) -> dict[str, Any]:
    """The raw event of which `validate` makes this one again; a set of one is written as its value."""
    written: dict[str, Any] = {"id": event.id}
    if event.source:
        written["source"] = event.source
    if event.time is not None:
        written["time"] = str(event.time)
    if event.contact is not None:
        written["contact"] = event.contact
    written[EVENT_TYPE] = list(event.event_types)
    written["attributes"] = {name: _written(values) for name, values in event.attributes}
    return written


_AS_THEY_ARE = frozenset((int, float, str))  # instants and places are of classes below these


def written_value(value: Value) -> Any:
    """As JSON has it."""
    return str(value) if isinstance(value, Instant) else value.pair if isinstance(value, Place) else value


def _written(values: tuple[Value, ...]) -> Any:
    if len(values) == 1:
        (value,) = values
        return value if type(value) in _AS_THEY_ARE else written_value(value)
    return [written_value(value) for value in values]


def _id(value: object, broken: _Broken) -> str:
    if value is None:
        broken.add("id", "id", None, "the event has no id")
    elif not isinstance(value, str):
        broken.add("id", "id", value, f"an id is text, not {described(value)}")
    elif not value:
        broken.add("id", "id", value, "the id is empty")
    elif len(value) > LONGEST_ID:
        message = f"the id has {len(value):,} characters; at most {LONGEST_ID:,} are allowed"
        broken.add("id", "id", value[:LONGEST_ID], message)
    elif not _is_unicode(value):
        broken.add("id", "id", value, f"the id {described(value)} cannot be kept: {_NO_TEXT}")
    else:
        return value
    return value[:LONGEST_ID] if isinstance(value, str) else ""


def _text(member: str, value: object, broken: _Broken) -> str | None:
    """The source or the contact."""
    if value is None or (isinstance(value, str) and _is_unicode(value)):
        return value
    reason = _NO_TEXT if isinstance(value, str) else "it must be text"
    broken.add("form", member, value, f"{member} {described(value)}: {reason}")
    return None


def _time(value: object, accepted: Instant | None, broken: _Broken) -> Instant | None:
    if value is None:
        return None
    try:
        time = _canonical(value, ENVELOPE["event.time"])
    except OutsideDomain as problem:
        broken.add("form", "time", value, f"time {described(value)}: {problem.reason}")
        return None
    assert isinstance(time, Instant)
    if accepted is not None and time > accepted + FARTHEST_AHEAD:
        message = f"time {time} is more than 5 minutes after the time of acceptance, {accepted}; check the clock"
        broken.add("form", "time", value, message)
    return time


def _event_types(value: object, catalog: Catalog, broken: _Broken) -> tuple[tuple[str, ...], bool]:
    """The known ones among the event types, and whether there are others."""
    if value is None:
        message = f"the event has no event_type{broken.hint('', catalog.event_type_names)}"
        broken.add("mandatory", EVENT_TYPE, None, message)
        return (), True
    if isinstance(value, list) and not value:
        broken.add("empty", EVENT_TYPE, value, "the list of event types is empty; an event has at least one")
        return (), True
    known: dict[str, None] = {}
    names = catalog.event_type_names
    items = value if isinstance(value, list) else [value]
    for item in items:
        if not isinstance(item, str):
            broken.add("type", EVENT_TYPE, item, f"an event type is text, not {described(item)}")
        elif catalog.event_type(item) is None:
            message = f"no event type {described(item)}{broken.hint(item, names)}"
            broken.add("type", EVENT_TYPE, item, message)
        else:
            known[item] = None
    unknown = any(not isinstance(item, str) or item not in known for item in items)
    return tuple(known), unknown


def _attributes(
    raw: object,
    event_types: tuple[str, ...],
    unknown_type: bool,
    catalog: Catalog,
    broken: _Broken,
    most_values: int | None,
) -> tuple[tuple[str, tuple[Value, ...]], ...]:
    """What the event binds, by name. What an unknown type might allow is not complained about."""
    if raw is not None and not isinstance(raw, dict):
        broken.add("form", "attributes", raw, f"attributes must be an object, not {described(raw)}")
        return ()
    bound = {name: value for name, value in (raw or {}).items() if value is not None}
    view = catalog.view(event_types)
    made = []
    for name in sorted(bound):
        use, domain = view.uses.get(name), catalog.domain_of(name)
        if name in RESERVED or domain is None or (use is None and not unknown_type):
            legal = view.uses if not unknown_type else catalog.attributes
            hint = ""
            if name not in RESERVED and broken.hints_among(len(legal)):
                hint = suggestion(name, tuple(view.uses) if not unknown_type else _own_names(catalog))
            broken.add(
                "view", name, bound[name], "" if broken.full else _outside_view(name, event_types, domain) + hint
            )
        if domain is None or name in RESERVED:
            continue
        values, count = _values(name, bound[name], domain, broken)
        if count > 1 and use is not None and use.unique and not unknown_type:
            message = f"{name!r} is unique but has {count} different values"
            broken.add("unique", name, bound[name], message)
        else:
            _check_count(name, bound[name], count, most_values, broken)
        made.append((name, values))
    for name in sorted(view.mandatory):
        if name not in bound:
            if broken.full:
                broken.add("mandatory", name, None, "")
                continue
            demanding = [one for one in event_types if name in catalog.view((one,)).mandatory]
            message = f"{name!r} is mandatory for {_listed(demanding)} but is missing"
            broken.add("mandatory", name, None, message)
    return tuple(made)


def _check_count(name: str, raw: object, count: int, most: int | None, broken: _Broken) -> None:
    if most is not None and count > most:
        message = f"{name!r} has {count:,} different values; at most {most:,} are allowed"
        broken.add("unique", name, raw, message)


def _values(name: str, raw: object, domain: Domain, broken: _Broken) -> tuple[tuple[Value, ...], int]:
    """The canonical values, each once, and how many different ones were meant, the wrong ones too."""
    if isinstance(raw, list) and not raw:
        broken.add("empty", name, raw, f"{name!r} has an empty list; leave it out when it has no value")
    values: dict[Value, None] = {}
    wrong = 0
    for item in _items(raw, domain):
        try:
            values[_canonical(item, domain)] = None
        except OutsideDomain as problem:
            broken.add("domain", name, item, f"{name!r}: {_why(item, domain, problem, broken)}")
            wrong += 1
    return tuple(values), len(values) + wrong


def _items(raw: object, domain: Domain) -> list[Any]:
    """The values of a list; a place is a list itself."""
    if not isinstance(raw, list):
        return [raw]
    several = domain.kind is not Kind.PLACE or not raw or isinstance(raw[0], list | str)
    return raw if several else [raw]


def _why(value: object, domain: Domain, problem: OutsideDomain, broken: _Broken) -> OutsideDomain | str:
    """What is wrong with a value, with the nearest legal word where there is one."""
    if problem.reason == _NESTED:
        return _NESTED
    if domain.vocabulary and broken.hints_among(len(domain.vocabulary)):
        try:
            domain.canonical(value)
        except OutsideDomain as told:
            return told
    return problem


def _canonical(value: object, domain: Domain) -> Value:
    if isinstance(value, (list, tuple, dict)) and (domain.kind is not Kind.PLACE or isinstance(value, dict)):
        raise OutsideDomain(domain.name, None, _NESTED)
    made = domain.canonical(value, hints=False)
    if isinstance(made, str) and not _is_unicode(made):
        raise OutsideDomain(domain.name, value, _NO_TEXT)
    return made


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _outside_view(name: str, event_types: Iterable[str], domain: Domain | None) -> str:
    if name == EVENT_TYPE:
        return "write event_type next to 'attributes', not inside it"
    if name in RESERVED:
        return f"{name!r} belongs to the envelope: write {name.partition('.')[2]!r} next to 'attributes'"
    if domain is None:
        return f"no attribute {name!r}"
    return f"{name!r} is not an attribute of {_listed(event_types)}"


def _own_names(catalog: Catalog) -> tuple[str, ...]:
    return tuple(attribute.name for attribute in catalog.attributes)


def _listed(event_types: Iterable[str]) -> str:
    return " and ".join(repr(name) for name in event_types)
