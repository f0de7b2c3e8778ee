"""What the core language can say of one attribute of a CloudEvent compared with texts and integers.

All of it speaks of attributes with one value. Where the schema allows several, conditions are weakened: an attribute
with several values is missing for CESQL.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from tidings.language.cesql.cloud_event import ENVELOPE, NAME, SPECVERSION, cesql_value
from tidings.language.cesql.expression import CesqlValue
from tidings.language.cesql.values import text_of
from tidings.language.cesql.verdict import ALWAYS, ANYTHING, NEVER, Side, Verdict
from tidings.language.tree import AttributeComparison, Comparison, Exists, In, Like, Node, Not
from tidings.schema.catalog import ALWAYS_BOUND, EVENT_TYPE, Catalog
from tidings.schema.domain import Domain, Kind, OutsideDomain
from tidings.schema.values import Value

MIRRORED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_SIGNS = re.compile(r"[\\%_]")


class Attributes:
    """The attributes of CloudEvents under a catalog, by their names there."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def core_name(self, name: str) -> str | None:
        """What Tidings calls it; None if the schema does not have it."""
        if name == "type":
            return EVENT_TYPE
        core = ENVELOPE.get(name, name)
        known = NAME.fullmatch(name) and name != EVENT_TYPE and self._catalog.domain_of(core) is not None
        return core if known else None

    def present(self, name: str) -> Verdict:
        """`EXISTS name`"""
        core = self.core_name(name)
        if name == "specversion" or core in ALWAYS_BOUND:
            return Verdict(ALWAYS, NEVER)
        if core is None:
            return Verdict(ANYTHING, ANYTHING)
        if self._is_several(core):
            return Verdict(Side(Exists(core), exact=False), ANYTHING)
        return Verdict(Side(Exists(core)), Side(Not(Exists(core))))

    def compared(self, name: str, operator: str, literal: CesqlValue, flipped: bool = False) -> Verdict | None:
        """`name operator literal`, or the other way round; None where nothing can be said but that it is present. The
        type of the right operand decides what is compared."""
        core, domain = self._known(name)
        if domain is None or core is None:
            return SPECVERSION_TESTS.get((operator, literal)) if name == "specversion" else None
        if operator in ("=", "!="):
            verdict = self._equal(core, domain, literal, flipped)
            return verdict if verdict is None or operator == "=" else verdict.reversed()
        if domain.kind is not Kind.NUMERIC or not domain.allows(operator) or isinstance(literal, str):
            return None
        relation = Comparison(core, MIRRORED[operator] if flipped else operator, int(literal))
        return Verdict(Side(relation, exact=False), Side(Not(relation), exact=False))  # a fraction is an error

    def among(self, name: str, literals: Sequence[CesqlValue]) -> Verdict | None:
        """`name IN (…)`: the left operand's type decides, so a fraction is no error here."""
        core, domain = self._known(name)
        if core is None or domain is None:
            return None
        values = [self._value(domain, text_of(literal)) for literal in literals]
        if domain.kind is Kind.NUMERIC and not all(isinstance(value, int) for value in values):
            return None
        return self._member(core, domain, values)

    def equal_text(self, name: str, text: str) -> Verdict | None:
        """Whether the attribute's text is this one; a missing attribute is neither."""
        core, domain = self._known(name)
        return None if core is None or domain is None else self._member(core, domain, [self._value(domain, text)])

    def affixed(self, name: str, relation: str, text: str) -> Verdict | None:
        """Whether the attribute's text begins or ends with this one (`prefix`, `suffix`)."""
        return self._fits(name, "starts" if relation == "prefix" else "ends", text)

    def like(self, name: str, parts: Sequence[tuple[str, str]]) -> Verdict | None:
        r"""Whether it fits the parts of a pattern. In the filter language `\` makes any next character itself."""
        signs = {"any": "%", "one": "_"}
        written = [signs.get(kind) or _SIGNS.sub(r"\\\g<0>", text) for kind, text in parts]
        return self._fits(name, "like", "".join(written))

    def _fits(self, name: str, form: Literal["starts", "ends", "like"], text: str) -> Verdict | None:
        core, domain = self._known(name)
        if core is None or domain is None or domain.kind is not Kind.STRING:
            return None
        if not domain.allows(form) or self._value(domain, text) is None:
            return None
        return _verdict(Like(core, form, text), exact=not self._is_several(core))

    def related(self, left: str, operator: str, right: str) -> Verdict | None:
        """Two attributes, both of them strings or both numeric."""
        (one, domain), (other, second) = self._known(left), self._known(right)
        if one is None or other is None or domain is None or second is None or domain.kind is not second.kind:
            return None
        if not (domain.allows(operator) and second.allows(operator)) or EVENT_TYPE in (one, other):
            return None
        relation = AttributeComparison(one, operator, other)
        several = self._is_several(one) or self._is_several(other)
        if domain.kind is Kind.STRING and operator in ("=", "!="):
            return _verdict(relation, exact=not several)
        if domain.kind is not Kind.NUMERIC:
            return None
        # A fraction and an integer cannot be compared: an error, unless both are the same number.
        exact_true = operator == "=" and not several
        return Verdict(Side(relation, exact_true), Side(Not(relation), exact=operator == "!=" and not several))

    def _equal(self, core: str, domain: Domain, literal: CesqlValue, flipped: bool) -> Verdict | None:
        if domain.kind is Kind.NUMERIC:
            if isinstance(literal, bool) or (flipped and isinstance(literal, str)):
                return None
            verdict = self._member(core, domain, [self._value(domain, text_of(literal))])
            if verdict is None or isinstance(literal, str) or flipped:
                return verdict
            return Verdict(verdict.true, verdict.false.weakened())  # a fraction cannot be cast to an integer
        if isinstance(literal, str) or flipped:
            return self._member(core, domain, [self._value(domain, text_of(literal))])
        return None  # the event's text is cast: '5' and '+5' both equal 5

    def _member(self, core: str, domain: Domain, values: Sequence[Value | None]) -> Verdict | None:
        """Whether the value is one of these, where all of them can be said."""
        said = list(dict.fromkeys(value for value in values if value is not None))
        if not domain.allows("=") or len(said) < len(set(values)):
            return None
        node: Node = Comparison(core, "=", said[0]) if len(said) == 1 else In(core, tuple(said))
        return _verdict(node, exact=not self._is_several(core))

    def _value(self, domain: Domain, text: str) -> Value | None:
        """The value of the domain whose text in a CloudEvent is this one."""
        try:
            value = domain.canonical(float(text) if domain.kind is Kind.NUMERIC else text)
        except (OutsideDomain, ValueError):
            return None
        return value if str(cesql_value(value)) == text else None

    def _known(self, name: str) -> tuple[str | None, Domain | None]:
        core = self.core_name(name)
        return core, None if core is None else self._catalog.domain_of(core)

    def _is_several(self, core: str) -> bool:
        """Event types are several, but one of them is chosen."""
        return core != EVENT_TYPE and self._catalog.may_be_multiple(core)


def _verdict(node: Node, exact: bool) -> Verdict:
    return Verdict(Side(node, exact), Side(Not(node), exact))


SPECVERSION_TESTS: dict[tuple[str, CesqlValue], Verdict] = {
    ("=", SPECVERSION): Verdict(ALWAYS, NEVER),
    ("!=", SPECVERSION): Verdict(NEVER, ALWAYS),
}
