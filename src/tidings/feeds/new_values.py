"""Values that a feed brings and the schema does not have: appended by the growth rule, where the mapping allows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tidings.client import Client, NotAllowed, ServerRefused
from tidings.feeds.event_maker import Made
from tidings.feeds.mapping.mapping import Mapping
from tidings.schema import Catalog, Domain, Kind
from tidings.schema.growth import AppendNode, AppendValue
from tidings.schema.hierarchy import SEPARATOR, below, is_node_name
from tidings.schema.values import is_text

LONGEST_VALUE = 200  # characters; what is longer is no value of an enumeration but something gone wrong


@dataclass(frozen=True, slots=True)
class Unseen:
    """A value, and for a node of a hierarchy the one above it."""

    domain: str
    kind: Kind
    value: str
    parent: str | None = None


class Growth:
    """At most `mapping.grow_limit` values in all: a feed gone wrong must not flood a schema that all share."""

    def __init__(self, mapping: Mapping) -> None:
        self._fields = [one for one in mapping.fields if one.grow]
        self.left = mapping.grow_limit
        self.problem = ""  # why there is no more growth, once there is none

    def append(self, made: list[Made], catalog: Catalog, client: Client) -> tuple[Catalog, int]:
        """The schema with the values of these events, and how many were appended. Raises ClientError."""
        appended = 0
        wanted = dict.fromkeys(self._wanted(made, catalog))
        for one in wanted:
            if self.problem:
                break
            if self.left <= 0:
                self.problem = f"no more values are appended: grow_limit is reached, first by {one.value[:60]!r}"
                break
            change = (
                AppendValue(one.domain, one.value)
                if one.kind is Kind.ENUMERATED
                else AppendNode(one.domain, one.value, one.parent)
            )
            try:
                client.grow(change)
            except NotAllowed as refused:
                self.problem = f"unseen values cannot be appended: {refused}"
            except ServerRefused as refused:
                # Another publisher was quicker (409), or it cannot be (422): the event's own refusal says why.
                if refused.status not in (409, 422):
                    raise
            else:
                appended += 1
                self.left -= 1
        return client.schema() if wanted and not self.problem else catalog, appended

    def _wanted(self, made: list[Made], catalog: Catalog) -> Iterator[Unseen]:
        for field in self._fields:
            name = field.attribute
            domain = catalog.domain_of(name)
            if domain is None or not domain.listed:
                continue
            for one in made:
                if one.errors:
                    continue
                parent = one.parents.get(name) if domain.kind is Kind.HIERARCHICAL else None
                if parent is not None and not domain.names(parent) and _fits(parent, domain):
                    yield Unseen(domain.name, domain.kind, parent)
                for value in _listed(one.raw["attributes"].get(name)):
                    if field.path and domain.kind is Kind.HIERARCHICAL:
                        yield from _nodes(str(value), domain)
                        continue
                    if not isinstance(value, str) or domain.names(value) or value == parent:
                        continue
                    value = value if parent is None else value.removeprefix(below(parent, ""))
                    if _fits(value, domain):
                        yield Unseen(domain.name, domain.kind, value, parent)


def _nodes(path: str, domain: Domain) -> Iterator[Unseen]:
    """The nodes of a whole path that are not there, from the top; nothing where one of them cannot be."""
    names = path.split(SEPARATOR)
    if not all(_fits(name, domain) for name in names):
        return
    for length in range(1, len(names) + 1):
        above = SEPARATOR.join(names[: length - 1]) or None
        if not domain.hierarchy.has_path(SEPARATOR.join(names[:length])):
            yield Unseen(domain.name, domain.kind, names[length - 1], above)


def _fits(value: str, domain: Domain) -> bool:
    fits = 0 < len(value) <= LONGEST_VALUE and value.isprintable() and is_text(value)
    return fits and (domain.kind is Kind.ENUMERATED or is_node_name(value))


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
