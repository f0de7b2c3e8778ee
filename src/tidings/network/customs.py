"""What a server takes from a neighbour, which may send anything."""

from __future__ import annotations

from tidings.network.engine_filters import EngineFilters
from tidings.network.moving_in import check
from tidings.network.stored import change_of, is_statistics
from tidings.overlay import messages as m
from tidings.overlay.server import Server
from tidings.overlay.values import Growth, Order
from tidings.schema.growth import grow


def bears(server: Server, filters: EngineFilters, message: m.Message) -> bool:
    """Whether its filters are filters here, once the schema is as new as theirs, and growth can follow what is here."""
    match message:
        case m.Posted(interest) if interest.schema <= server.schema:
            some = [each for each in (interest.filters, interest.advertisements) if len(each) <= server.limits.filters]
            return all(filters.fits(each) for each in some)  # longer ones count as everything, whatever they say
        case m.Routed(to, _, m.Ask() as ask) if to == server.name and ask.schema <= server.schema:
            return filters.fits(ask.filters)
        case m.Routed(to, _, m.Search() as search) if to == server.name:
            return search.schema > server.schema or filters.fits((search.filter,))
        case m.Orders(start, digest, orders) if start <= server.schema and server.digests[start] == digest:
            return _can_follow(filters, orders[server.schema - start :])
    return True


def not_takeable(server: Server, filters: EngineFilters, message: m.Message) -> tuple[m.MoveIn, str] | None:
    """A subscription that is offered, and why it cannot move in."""
    match message:
        case m.Routed(to, _, m.MoveIn() as offer) if to == server.name and offer.schema <= server.schema:
            try:
                check(offer.cargo, filters.catalog)
                filters.check(str(offer.filter))
            except Exception as problem:  # what a neighbour wrote may fail in any way
                return offer, str(problem)
    return None


def _can_follow(filters: EngineFilters, orders: tuple[tuple[str, Order], ...]) -> bool:
    """The home has tried whether growth may follow; a neighbour that lies has not. What cannot follow must not be
    ordered here: the machine would have it and the store would not, so no growth could follow from then on."""
    catalog = filters.catalog
    try:
        for _, order in orders:
            if isinstance(order, Growth):
                if is_statistics(order):
                    return False
                catalog = grow(catalog, change_of(order))
    except Exception:  # what a neighbour wrote may fail in any way
        return False
    return True
