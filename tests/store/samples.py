"""A small schema, drafts under it, and a clock that stands until it is set."""

from tidings.schema import Attribute, AttributeUse, Domain, EventType, Instant, Kind
from tidings.schema.growth import AppendValue, CreateAttribute, CreateDomain, CreateEventType
from tidings.store import Accepted, Draft, Grow, Outcome, Publish, Refused, Store
from tidings.store.clock.clock import Steady
from tidings.store.journal.entries import Span, Standing

START = Instant.parse("2026-05-01T10:00:00Z")
SECOND = 1_000_000

SCHEMA: list[Draft] = [
    Grow(CreateDomain(Domain("money", Kind.NUMERIC))),
    Grow(CreateDomain(Domain("brand", Kind.ENUMERATED, values=("mini", "opel")))),
    Grow(CreateAttribute(Attribute("price", "money"))),
    Grow(CreateAttribute(Attribute("brand", "brand"))),
    Grow(CreateEventType(EventType("car", (AttributeUse("price"), AttributeUse("brand", mandatory=False))))),
]
AUDI = Grow(AppendValue("brand", "audi"))


class Clock:
    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> Instant:
        return self.time

    def tick(self, seconds: float = 1) -> Instant:
        self.time = Instant(self.time + int(seconds * SECOND))
        return self.time


class SteadyClock(Clock):
    """A host's clock. Time passes by `tick`; `jump` sets the time of day alone, as somebody at the keyboard does."""

    def __init__(self) -> None:
        super().__init__()
        self.boot, self.elapsed = "boot 1", 0

    def steady(self) -> Steady:
        return Steady(self.boot, self.elapsed)

    def tick(self, seconds: float = 1) -> Instant:
        self.elapsed += int(seconds * SECOND)
        return super().tick(seconds)

    def jump(self, seconds: float) -> None:
        self.time = Instant(self.time + int(seconds * SECOND))

    def reboot(self, boot: str, seconds: float) -> None:
        """The host was off for a while."""
        self.boot, self.elapsed = boot, 0
        self.jump(seconds)


def raw(id: str, price: object = 10, **members: object) -> dict[str, object]:
    attributes = {"price": price} | ({"brand": members.pop("brand")} if "brand" in members else {})
    return {"id": id, "event_type": "car", "attributes": attributes} | members


def publish(id: str, price: object = 10, **members: object) -> Publish:
    return Publish(raw(id, price, **members))


def with_schema(store: Store) -> Store:
    """The schema takes positions 1 to 5."""
    assert all(isinstance(outcome, Accepted) for outcome in store.append(SCHEMA))
    return store


def positions(outcomes: list[Outcome]) -> list[int | None]:
    """Where the accepted ones stand, None for all others."""
    return [outcome.position if isinstance(outcome, Accepted) else None for outcome in outcomes]


def refusal(outcome: Outcome) -> str:
    assert isinstance(outcome, Refused), outcome
    return str(outcome.error)


def projections(store: Store) -> dict[str, object]:
    """All that follows from the journal."""
    standing: list[Standing] = store.subscriptions()
    spans: list[Span] = list(store.spans())
    with store.database.reading() as connection:
        keys = connection.exec_driver_sql("SELECT key, position FROM event_keys ORDER BY position").all()
        size = connection.exec_driver_sql("SELECT events, event_bytes, tail, accepted, active, paused FROM about").one()
        counts = connection.exec_driver_sql(
            "SELECT owner, subscriptions FROM subscription_counts WHERE subscriptions > 0 ORDER BY owner"
        ).all()
    catalog = store.catalog()
    return {
        "counts": [tuple(count) for count in counts],
        "catalog": catalog,
        "version": catalog.version,
        "standing": standing,
        "spans": spans,
        "keys": [(bytes(key), position) for key, position in keys],
        "about": tuple(size),
    }


def dropped_by_account(store: Store) -> dict[str, int]:
    """Matches beyond the quotas of their accounts."""
    return {one.account: one.dropped for one in store.most_dropped(100)}
