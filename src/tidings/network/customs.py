"""What a server takes from a neighbour, which may send anything."""

from __future__ import annotations

import msgspec

from tidings.errors import LanguageError, SchemaError
from tidings.network.engine_filters import EngineFilters
from tidings.network.moving_in import check
from tidings.network.stored import change_of
from tidings.network.wire import WrongMessage
from tidings.overlay import messages as m
from tidings.overlay.server import Server
from tidings.overlay.values import Growth, Order


def bears(server: Server, filters: EngineFilters, message: m.Message) -> bool:
    """Whether its filters are filters here, once the schema is as new as theirs, and growth can be read."""
    match message:
        case m.Posted(interest) if interest.schema <= server.schema:
            return filters.fits((*interest.filters, *interest.advertisements))
        case m.Routed(to, _, m.Ask() as ask) if to == server.name and ask.schema <= server.schema:
            return filters.fits(ask.filters)
        case m.Routed(to, _, m.Search() as search) if to == server.name:
            return search.schema > server.schema or filters.fits((search.filter,))
        case m.Orders(_, _, orders):
            return all(_is_read(order) for _, order in orders)
    return True


def not_takeable(server: Server, filters: EngineFilters, message: m.Message) -> tuple[m.MoveIn, str] | None:
    """A subscription that is offered, and why it cannot move in."""
    match message:
        case m.Routed(to, _, m.MoveIn() as offer) if to == server.name and offer.schema <= server.schema:
            try:
                check(offer.cargo, filters.catalog)
                filters.check(str(offer.filter))
            except (WrongMessage, LanguageError) as problem:
                return offer, str(problem)
    return None


def _is_read(order: Order) -> bool:
    """Whether a growth can be read at all; whether it may follow, the home has decided."""
    if not isinstance(order, Growth):
        return True
    try:
        change_of(order)
    except (SchemaError, msgspec.DecodeError, ValueError, KeyError, TypeError):
        return False
    return True
