"""Event patterns of AWS EventBridge: `{"source": ["aws.ec2"], "detail": {"state": [{"prefix": "run"}]}}`."""

from __future__ import annotations

from typing import Any

from tidings.errors import shown, suggestion
from tidings.language.conversion.converted import Conversion, Converted, NotConvertible, all_of, any_of
from tidings.language.tree import Comparison, Exists, In, Like, Node, Not
from tidings.schema.catalog import EVENT_TYPE
from tidings.schema.values import Instant

_ENVELOPE = {"source": "event.source", "detail-type": EVENT_TYPE, "id": "event.id", "time": "event.time"}
_DEEPEST = 50  # objects within each other
_SIGNS = ("=", "<", "<=", ">", ">=")
_MATCHERS = (
    "prefix", "suffix", "equals-ignore-case", "wildcard", "anything-but", "numeric", "exists", "cidr",
)  # fmt: skip
_IGNORING_CASE = "strings are compared by their characters, not ignoring case; of a text attribute say contains"
_ELEMENTS = (
    "of an array of objects EventBridge wants all fields in one element; here each attribute may have its value from "
    "another one"
)


def from_eventbridge(pattern: Any) -> Converted:
    """Raises CannotBeSaid with all that cannot be said, or NotConvertible."""
    if not isinstance(pattern, dict) or not pattern:
        raise NotConvertible("the pattern", f"expected an object with fields, got {shown(pattern)}")
    reader = _Reader()
    return reader.conversion.finished(reader.fields(pattern, ()))


class _Reader:
    def __init__(self) -> None:
        self.conversion = Conversion()

    def fields(self, pattern: dict[str, Any], path: tuple[str, ...], depth: int = 1) -> Node | None:
        if depth > _DEEPEST:
            raise NotConvertible(".".join(path[:2]) or "$or", f"objects are nested more than {_DEEPEST} deep")
        terms: list[Node | None] = []
        for name, wanted in pattern.items():
            if name == "$or" and _is_or(wanted):
                terms.append(any_of([self.fields(one, path, depth + 1) for one in wanted]))
            elif isinstance(wanted, dict) and wanted:
                inner = (*path, name)
                if len(wanted) > 1 and inner != ("detail",):
                    self.conversion.notes[f"{'.'.join(inner)}: {_ELEMENTS}"] = None
                terms.append(self.fields(wanted, inner, depth + 1))
            elif isinstance(wanted, list) and wanted:
                terms.append(self.values(_attribute((*path, name)), wanted, ".".join((*path, name))))
            else:
                raise NotConvertible(
                    ".".join((*path, name)), f"expected a list of values or an object, got {shown(wanted)}"
                )
        return all_of(terms)

    def values(self, attribute: str, wanted: list[Any], place: str) -> Node | None:
        """One of the values, or one of the matchers."""
        given = [self.value(attribute, one, place) for one in wanted if isinstance(one, str | int | float)]
        plain = [one for one in given if one is not None]
        terms: list[Node | None] = [None] if len(plain) < len(given) else []
        for kind in (str, float):
            some = tuple(dict.fromkeys(one for one in plain if isinstance(one, str) is (kind is str)))
            if some:
                terms.append(Comparison(attribute, "=", some[0]) if len(some) == 1 else In(attribute, some))
        for one in wanted:
            if one is None:
                self.conversion.unsayable(place, 'null: an attribute has a value or is missing; see "exists"')
                terms.append(None)
            elif isinstance(one, dict):
                terms.append(self.matcher(attribute, one, place))
            elif not isinstance(one, str | int | float):
                raise NotConvertible(place, f"expected a value or a matcher, got {shown(one)}")
        return any_of(terms)

    def value(self, attribute: str, given: Any, place: str) -> str | int | float | None:
        """A value that the attribute may have; None, with a problem noted, if it cannot."""
        value = self.conversion.literal(given, place)
        if attribute in _ENVELOPE.values() and value is not None and not isinstance(given, str):
            self.conversion.unsayable(place, f"{shown(given)}: {attribute} is a string")
            return None
        if attribute == "event.time" and value is not None:
            try:
                Instant.parse(str(value))
            except ValueError as problem:
                self.conversion.unsayable(place, str(problem))
                return None
        return value

    def matcher(self, attribute: str, given: dict[str, Any], place: str) -> Node | None:
        if len(given) != 1:
            raise NotConvertible(place, f'a matcher has one member, e.g. {{"prefix": "a"}}, got {shown(given)}')
        ((name, value),) = given.items()
        match name:
            case "exists":
                if not isinstance(value, bool):
                    raise NotConvertible(place, f"exists takes true or false, got {shown(value)}")
                return Exists(attribute) if value else Not(Exists(attribute))
            case "prefix" | "suffix" | "wildcard":
                return self.affix(attribute, name, value, place)
            case "numeric":
                return self.numeric(attribute, value, place)
            case "anything-but":
                return self.anything_but(attribute, value, place)
            case "equals-ignore-case":
                self.conversion.unsayable(place, f"equals-ignore-case: {_IGNORING_CASE}")
                return None
            case "cidr":
                self.conversion.unsayable(
                    place, "cidr: IP ranges are not supported; compare the beginning with starts with"
                )
                return None
            case _:
                raise NotConvertible(place, f"no matcher {name!r}{suggestion(name, _MATCHERS)}")

    def affix(self, attribute: str, name: str, value: Any, place: str) -> Node | None:
        if isinstance(value, dict) and list(value) == ["equals-ignore-case"]:
            self.conversion.unsayable(place, f"{name} with equals-ignore-case: {_IGNORING_CASE}")
            return None
        if not isinstance(value, str):
            raise NotConvertible(place, f"{name} takes a string, got {shown(value)}")
        if attribute in (EVENT_TYPE, "event.time"):
            kind = "times are compared with a whole time" if attribute == "event.time" else "list the event types"
            self.conversion.unsayable(place, f"{name}: {kind}")
            return None
        if name == "wildcard":
            return Like(attribute, "like", _like(value))
        return Like(attribute, "starts" if name == "prefix" else "ends", value)

    def numeric(self, attribute: str, value: Any, place: str) -> Node | None:
        if not isinstance(value, list) or not value or len(value) % 2:
            raise NotConvertible(place, f'numeric takes pairs such as [">", 0, "<=", 5], got {shown(value)}')
        if attribute in _ENVELOPE.values():
            self.conversion.unsayable(place, f"numeric: {attribute} is no number")
            return None
        terms: list[Node | None] = []
        for sign, number in zip(value[::2], value[1::2], strict=True):
            if sign not in _SIGNS or isinstance(number, bool) or not isinstance(number, int | float):
                raise NotConvertible(place, f"numeric takes a sign and a number, got {shown(sign)} {shown(number)}")
            said = self.conversion.literal(number, place)
            terms.append(None if said is None else Comparison(attribute, sign, said))
        return all_of(terms)

    def anything_but(self, attribute: str, value: Any, place: str) -> Node | None:
        if isinstance(value, dict):
            name, inner = next(iter(value.items()), ("", None))
            if len(value) != 1 or name not in ("prefix", "suffix", "wildcard", "equals-ignore-case"):
                raise NotConvertible(
                    place, f"anything-but takes values, prefix, suffix or wildcard, got {shown(value)}"
                )
            several = inner if isinstance(inner, list) else [inner]
            if not several:
                raise NotConvertible(place, f"anything-but takes at least one {name}, got []")
            said = [self.matcher(attribute, {name: one}, place) for one in several]
            return all_of([None if one is None else Not(one) for one in said])
        several = value if isinstance(value, list) else [value]
        if not several or not all(isinstance(one, str | int | float) for one in several):
            raise NotConvertible(place, f"anything-but takes strings or numbers, got {shown(value)}")
        said_values = [self.value(attribute, one, place) for one in several]
        values = [one for one in said_values if one is not None]
        if len(values) < len(several):
            return None
        if len(values) == 1:
            return Comparison(attribute, "!=", values[0])
        return Not(In(attribute, tuple(dict.fromkeys(values))))


def _is_or(wanted: Any) -> bool:
    """Two or more patterns; else `$or` is a field like any other. An object with a matcher is no pattern."""
    return (
        isinstance(wanted, list)
        and len(wanted) > 1
        and all(isinstance(one, dict) and one and not set(one) & set(_MATCHERS) for one in wanted)
    )


def _attribute(path: tuple[str, ...]) -> str:
    """`detail.state.name` is the attribute `state.name`."""
    if len(path) == 1 and path[0] in _ENVELOPE:
        return _ENVELOPE[path[0]]
    return ".".join(path[1:] if len(path) > 1 and path[0] == "detail" else path)


def _like(wildcard: str) -> str:
    """`*` is any run of characters, `\\*` itself."""
    made, escaped = [], False
    for character in wildcard:
        if escaped or character not in "\\*":
            made.append("\\" + character if character in "%_\\" else character)
            escaped = False
        elif character == "\\":
            escaped = True
        else:
            made.append("%")
    return "".join(made)
