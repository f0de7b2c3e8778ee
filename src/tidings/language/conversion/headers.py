"""Bindings of a headers exchange (AMQP): `{"x-match": "all", "format": "pdf", "type": "report"}`."""

from __future__ import annotations

from typing import Any

from tidings.errors import shown
from tidings.language.conversion.converted import Conversion, Converted, NotConvertible, all_of, any_of
from tidings.language.tree import Comparison, Exists, Node

_MATCH = ("all", "any", "all-with-x", "any-with-x")


def from_headers(binding: Any) -> Converted:
    """Headers are attributes; one without a value only has to be there. Raises CannotBeSaid or NotConvertible."""
    if not isinstance(binding, dict):
        raise NotConvertible("the binding", f"expected an object of headers, got {shown(binding)}")
    how = binding.get("x-match", "all")
    if how not in _MATCH:
        raise NotConvertible("x-match", f"expected all, any, all-with-x or any-with-x, got {shown(how)}")
    conversion = Conversion()
    terms: list[Node | None] = []
    for name, value in binding.items():
        if name == "x-match" or (name.startswith("x-") and not how.endswith("-with-x")):
            continue
        if value is None:
            terms.append(Exists(name))
        elif isinstance(value, str | int | float):
            said = conversion.literal(value, name)
            terms.append(None if said is None else Comparison(name, "=", said))
        else:
            conversion.unsayable(name, "a header that is a table or an array; an attribute has single values")
            terms.append(None)
    if not terms:
        empty = "no header would match nothing" if how.startswith("any") else "no header would match every event"
        conversion.unsayable("the binding", f"{empty}; a filter names at least one attribute")
        terms.append(None)
    return conversion.finished(all_of(terms) if how.startswith("all") else any_of(terms))
