"""A composite bound to a catalog once, with the filters of its leaves and warnings for its author."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from tidings.errors import expect
from tidings.language.composites.amedias import parse_profile
from tidings.language.composites.binder import Binding
from tidings.language.composites.limits import ACCEPTED, LIMITS, CompositeLimits
from tidings.language.composites.parser import parse
from tidings.language.composites.printer import print_composite
from tidings.language.composites.profiles import Profiles
from tidings.language.composites.tree import Composite
from tidings.language.errors import FilterTooLong
from tidings.language.filter import Filter
from tidings.language.tokens import LONGEST_FILTER
from tidings.schema.catalog import Catalog
from tidings.schema.values import Instant, Span

_PROFILE = re.compile(r"\s*PROFILE\s*\(", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class BoundComposite:
    """Equal ones have the same tree and options. `filters` are the different ones of the leaves, in the order of the
    text; a leaf's `filter` is the `tree` of one of them. `warnings` are sentences for people."""

    composite: Composite
    filters: tuple[Filter, ...] = field(compare=False, repr=False)
    warnings: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def parse(
        cls, text: str, catalog: Catalog, limits: CompositeLimits = LIMITS, profiles: Profiles | None = None
    ) -> BoundComposite:
        """Reads and binds; raises LanguageError. `profiles` are those that the text may use."""
        expect(text, str, "BoundComposite.parse", "text", "text such as '[price > 9] before [price < 5] within 1 h'")
        expect(catalog, Catalog, "BoundComposite.parse", "catalog", "a tidings.Schema")
        return cls.of(parse(text, limits, profiles), text, catalog)

    @classmethod
    def parse_profile(
        cls,
        text: str,
        catalog: Catalog,
        defined: Instant,
        limits: CompositeLimits = LIMITS,
        profiles: Profiles | None = None,
    ) -> BoundComposite:
        """Reads an A-MEDIAS profile, defined at this time, and binds it; raises LanguageError. `profiles` are the
        application profiles that it may use."""
        return cls.of(parse_profile(text, defined, limits, profiles), text, catalog)

    @classmethod
    def read(
        cls,
        text: str,
        catalog: Catalog,
        defined: Instant,
        limits: CompositeLimits = LIMITS,
        profiles: Profiles | None = None,
    ) -> BoundComposite:
        """Either syntax: a text that begins with `PROFILE(` is an A-MEDIAS profile. Raises LanguageError."""
        if isinstance(text, str) and _PROFILE.match(text):
            return cls.parse_profile(text, catalog, defined, limits, profiles)
        return cls.parse(text, catalog, limits, profiles)

    @classmethod
    def known(cls, text: str, catalog: Catalog) -> BoundComposite:
        """Binds a canonical text that was accepted before. What was checked then is not checked again, and there are no
        warnings: 100,000 of them are read in six tenths of the time."""
        binding = Binding(parse(text, ACCEPTED), text, catalog, known=True)
        return cls(binding.bound(), tuple(binding.filters.values()))

    @classmethod
    def of(cls, parsed: Composite, text: str, catalog: Catalog) -> BoundComposite:
        """Binds what was parsed from the text, in whichever syntax; raises LanguageError."""
        binding = Binding(parsed, text, catalog)
        composite = binding.bound()
        length = len(print_composite(composite))
        if length > LONGEST_FILTER:
            raise FilterTooLong("", 0, length, LONGEST_FILTER)  # the journal could not read it back
        return cls(composite, tuple(binding.filters.values()), tuple(binding.warnings(composite)))

    def since(self, opened: int) -> BoundComposite:
        """What it means from this time on: a start of its own does not come earlier."""
        composite = self.composite
        if composite.start is None or composite.start >= opened:
            return self
        left = None if composite.span is None else Span(composite.start + composite.span - opened)
        return replace(self, composite=replace(composite, start=Instant(opened), span=left))

    @property
    def text(self) -> str:
        """The canonical text, which means the same however the schema grows."""
        return print_composite(self.composite)

    def __str__(self) -> str:
        return self.text
