"""What the author of a filter should be told before it is left standing: it cannot match, or does not say what was meant."""

from __future__ import annotations

from collections.abc import Iterator

from tidings.language.normal_form import Conjunction, Literal
from tidings.language.printer import print_filter
from tidings.language.satisfiability import contradiction
from tidings.language.tree import AttributeComparison, Between, Comparison, In, Not
from tidings.schema.catalog import Catalog


def advice(conjunctions: tuple[Conjunction, ...], catalog: Catalog) -> tuple[str, ...]:
    """Warnings in plain words; none for most filters."""
    found = dict.fromkeys(_traps(conjunctions, catalog))
    contradictions = [contradiction(conjunction, catalog) for conjunction in conjunctions]
    impossible = [clash for clash in contradictions if clash is not None]
    if impossible:
        whole = len(impossible) == len(conjunctions)
        subject = "this filter can never match" if whole else "one alternative can never match"
        for clash in impossible[:3]:
            found[f"{subject}: {_clash(clash)}"] = None
    return tuple(found)


def _clash(predicates: Conjunction) -> str:
    if len(predicates) == 1:
        return f"no value satisfies {print_filter(predicates[0])}"
    texts = [print_filter(predicate) for predicate in predicates]
    return f"{texts[0]} contradicts {' and '.join(texts[1:])}"


def _traps(conjunctions: tuple[Conjunction, ...], catalog: Catalog) -> Iterator[str]:
    for conjunction in conjunctions:
        equalities: set[str] = set()
        for literal in conjunction:
            predicate = literal.term if isinstance(literal, Not) else literal
            attribute = predicate.attribute  # type: ignore[union-attr]
            if not catalog.is_used(attribute):
                yield f"no event type has the attribute {attribute!r} yet, so nothing can match"
            if not catalog.may_be_multiple(attribute):
                continue
            if _avoids_a_value(literal):
                yield _avoiding(literal, attribute)
            if isinstance(literal, Comparison) and literal.operator == "=":
                if attribute in equalities:
                    yield (
                        f"{attribute!r} may have several values, but two equalities speak of one value and "
                        f"exclude each other: write {attribute} contains … and {attribute} contains …"
                    )
                equalities.add(attribute)


def _avoids_a_value(literal: Literal) -> bool:
    match literal:
        case Comparison(operator="!=") | AttributeComparison(operator="!="):
            return True
        case Not(Comparison() | AttributeComparison() | In() | Between()):
            return True
        case _:
            return False


def _avoiding(literal: Literal, attribute: str) -> str:
    return (
        f"{attribute!r} may have several values: {print_filter(literal)} matches as soon as one of them fits; "
        f"to exclude a value altogether write not ({attribute} contains …)"
    )
