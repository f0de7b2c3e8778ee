"""Connectors from outside sources: a mapping file turns CSV, JSON, XML or an HTML listing into events.

`read_mapping` reads the file, `Feed` looks at the source and publishes, `infer` proposes a schema and a mapping of
what it finds. `auction_site` and `flights` are sources that ship with Tidings.
"""

from tidings.feeds.errors import (
    DataMissing,
    FeedError,
    NoRecords,
    NothingToInfer,
    NoValues,
    PatternTooSlow,
    SchemaClash,
    SchemaLacks,
    SourceUnreachable,
    UnknownColumn,
    UnreadableFeed,
    WrongMapping,
    WrongPath,
)
from tidings.feeds.feed import Counters, Feed
from tidings.feeds.inference.infer import Proposal, infer, propose
from tidings.feeds.mapping.mapping import Mapping
from tidings.feeds.mapping.mapping_file import read_mapping
from tidings.feeds.memory.state import state_path

__all__ = [
    "Counters",
    "DataMissing",
    "Feed",
    "FeedError",
    "Mapping",
    "NoRecords",
    "NoValues",
    "NothingToInfer",
    "PatternTooSlow",
    "Proposal",
    "SchemaClash",
    "SchemaLacks",
    "SourceUnreachable",
    "UnknownColumn",
    "UnreadableFeed",
    "WrongMapping",
    "WrongPath",
    "infer",
    "propose",
    "read_mapping",
    "state_path",
]
