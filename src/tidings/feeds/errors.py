"""What can be wrong with a feed: its mapping, its source, what it holds, or the schema that it wants."""

from __future__ import annotations

from tidings.errors import TidingsError, suggestion


class FeedError(TidingsError):
    """A feed cannot be read, or not be turned into events."""


class WrongMapping(FeedError):
    """A mapping file says something that cannot be: the file, the key, and what was expected."""

    def __init__(self, file: str, key: str, problem: str) -> None:
        super().__init__(file, key, problem)

    def __str__(self) -> str:
        file, key, problem = self.args
        return f"{file}: {key}: {problem}" if key else f"{file}: {problem}"


class WrongPath(FeedError):
    """A path into records is of another form: the path and what is wrong with it."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(path, problem)

    def __str__(self) -> str:
        return "the path {!r} {}".format(*self.args)


class UnreadableFeed(FeedError):
    """What a source holds is not of the format that the mapping says: where, and what is wrong there."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(place, problem)

    def __str__(self) -> str:
        return "{}: {}".format(*self.args)


class NoRecords(UnreadableFeed):
    """Nothing stands where the mapping says that records are: where, and what is missing there."""


class SourceUnreachable(FeedError):
    """A feed's page or file could not be got: where it should be, and why."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(place, problem)

    def __str__(self) -> str:
        return "{}: {}".format(*self.args)


class SchemaLacks(FeedError):
    """The server's schema does not have what a feed publishes: what is missing, and how to add it."""

    def __init__(self, missing: tuple[str, ...], advice: str) -> None:
        super().__init__(missing, advice)

    def __str__(self) -> str:
        missing, advice = self.args
        return f"the schema has no {', no '.join(missing)}; {advice}"


class SchemaClash(FeedError):
    """A feed and the schema mean different things by one name: what it names, there, and in the feed."""

    def __init__(self, name: str, there: str, here: str) -> None:
        super().__init__(name, there, here)

    def __str__(self) -> str:
        name, there, here = self.args
        return f"{name} is {there} in the schema and {here} in the feed; give it another name in the mapping"


class NothingToInfer(FeedError):
    """There are no records of which a schema could be made: where, and what to do."""

    def __init__(self, place: str, advice: str) -> None:
        super().__init__(place, advice)

    def __str__(self) -> str:
        return "{}: no records were found; {}".format(*self.args)


class UnknownColumn(FeedError):
    """What is to be mandatory is neither an attribute that was inferred nor a column: its name, and those there are."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__(name, known)

    def __str__(self) -> str:
        name, known = self.args
        return f"--mandatory: no attribute or column {name!r}{suggestion(name, known)}"


class DataMissing(FeedError):
    """An example's data is in a package that is not installed: the package and the extra that has it."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(package, extra)

    def __str__(self) -> str:
        package, extra = self.args
        return f"the package {package} is not installed; `pip install 'tidings[{extra}]'` brings it"
