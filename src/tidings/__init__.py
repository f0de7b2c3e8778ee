"""Tidings: content-based publish/subscribe. Standing filters are matched against a stream of events.

The public names are loaded when they are first used, so that `import tidings` stays quick and light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidings.client import AsyncClient, Client
    from tidings.errors import TidingsError
    from tidings.events import Event, EventBatch, RefusedEvent, read_events, validate
    from tidings.events.reader import RefusedEvents
    from tidings.language import Filter, Subscription, covers
    from tidings.matching import Algorithm, Matches
    from tidings.matching.algorithms import make_matcher
    from tidings.matching.explain import explain
    from tidings.matching.given_filters import FilterWarning
    from tidings.matching.match_result import Match, MatchResult
    from tidings.matching.matcher import Matcher, match
    from tidings.schema import Catalog as Schema
    from tidings.schema.files import read_catalog as read_schema

__version__ = "0.1.0"

_HOMES = {
    "Algorithm": "tidings.matching:Algorithm",
    "AsyncClient": "tidings.client:AsyncClient",
    "Client": "tidings.client:Client",
    "Event": "tidings.events:Event",
    "EventBatch": "tidings.events:EventBatch",
    "Filter": "tidings.language:Filter",
    "FilterWarning": "tidings.matching.given_filters:FilterWarning",
    "Match": "tidings.matching.match_result:Match",
    "MatchResult": "tidings.matching.match_result:MatchResult",
    "Matcher": "tidings.matching.matcher:Matcher",
    "Matches": "tidings.matching:Matches",
    "RefusedEvent": "tidings.events:RefusedEvent",
    "RefusedEvents": "tidings.events.reader:RefusedEvents",
    "Schema": "tidings.schema:Catalog",
    "Subscription": "tidings.language:Subscription",
    "TidingsError": "tidings.errors:TidingsError",
    "covers": "tidings.language:covers",
    "explain": "tidings.matching.explain:explain",
    "make_matcher": "tidings.matching.algorithms:make_matcher",
    "match": "tidings.matching.matcher:match",
    "read_events": "tidings.events:read_events",
    "read_schema": "tidings.schema.files:read_catalog",
    "validate": "tidings.events:validate",
}

__all__ = [
    "Algorithm",
    "AsyncClient",
    "Client",
    "Event",
    "EventBatch",
    "Filter",
    "FilterWarning",
    "Match",
    "MatchResult",
    "Matcher",
    "Matches",
    "RefusedEvent",
    "RefusedEvents",
    "Schema",
    "Subscription",
    "TidingsError",
    "covers",
    "explain",
    "make_matcher",
    "match",
    "read_events",
    "read_schema",
    "validate",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'tidings' has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    found = getattr(import_module(module), attribute)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """For completion: the public names, loaded or not."""
    return sorted({*__all__, "__version__"})
