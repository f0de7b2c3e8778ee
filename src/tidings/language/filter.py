"""A filter: bound to a catalog once, with its normal form and warnings for its author."""

from __future__ import annotations

from dataclasses import dataclass, field

from tidings.errors import expect
from tidings.language.advice import advice
from tidings.language.binder import bind
from tidings.language.cycles import refuse_cycles
from tidings.language.dialects import refuse_wrong_translation
from tidings.language.errors import FilterTooLong, NormalFormTooLarge, TooManyPredicates
from tidings.language.normal_form import MOST_CONJUNCTIONS, NO_LIMIT, Conjunction, normal_form
from tidings.language.parser import parse
from tidings.language.printer import print_filter
from tidings.language.tokens import LONGEST_FILTER
from tidings.language.tree import Node
from tidings.schema.catalog import Catalog

_MOST_GROWTH = 32  # no canonical text is that many times longer (NFKC makes 18 characters of U+FDFA)


@dataclass(frozen=True, slots=True)
class Filter:
    """Equal filters have the same tree. `warnings` are sentences for people."""

    tree: Node
    conjunctions: tuple[Conjunction, ...] = field(compare=False, repr=False)
    warnings: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def parse(cls, text: str, catalog: Catalog, limit: int = MOST_CONJUNCTIONS) -> Filter:
        """Reads and binds; raises LanguageError."""
        expect(text, str, "Filter.parse", "text", "text such as 'price < 1000'")
        expect(catalog, Catalog, "Filter.parse", "catalog", "a tidings.Schema")
        return cls.of(parse(text), text, catalog, limit)

    @classmethod
    def given(cls, text: str, catalog: Catalog) -> Filter:
        """Like `parse`, for a text that will be stored: a translation in it must be the one that binding makes."""
        filter = cls.parse(text, catalog)
        refuse_wrong_translation(filter.tree, text, catalog)
        return filter

    @classmethod
    def of(cls, parsed: Node, text: str, catalog: Catalog, limit: int = MOST_CONJUNCTIONS) -> Filter:
        """Binds what was parsed from the text or a part of it; raises LanguageError."""
        tree = bind(parsed, text, catalog)
        try:
            conjunctions = normal_form(tree, catalog, limit)
        except (NormalFormTooLarge, TooManyPredicates) as problem:
            raise type(problem)(text, *problem.args[1:]) from None
        if limit < NO_LIMIT:
            refuse_cycles(conjunctions, text)
        if len(text) > LONGEST_FILTER // _MOST_GROWTH:
            length = len(print_filter(tree))
            if length > LONGEST_FILTER:
                raise FilterTooLong("", 0, length, LONGEST_FILTER)  # the journal could not read it back
        return cls(tree, conjunctions, advice(tree, conjunctions, catalog))

    @classmethod
    def known(cls, parsed: Node, text: str, catalog: Catalog) -> Filter:
        """Binds what was accepted before, from its canonical text: its limits and its warnings are not looked at."""
        tree = bind(parsed, text, catalog)
        return cls(tree, normal_form(tree, catalog, NO_LIMIT))

    @property
    def text(self) -> str:
        """The canonical text, which means the same however the schema grows."""
        return print_filter(self.tree)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Subscription:
    """A filter with the id under which its matches are reported."""

    id: str
    filter: Filter
