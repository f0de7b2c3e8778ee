"""What a server of a network keeps: who it is, its links, how far it has heard of others. Empty where there is none."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, LargeBinary, SmallInteger, Table, Text, false

from tidings.store.tables.base import Id, Number, metadata

# One row, once the server has had a name. `term` and `home` say who orders the schema. `advertised` changes with the
# advertisements, which bind publishers while the distribution is "advertisements".
network_node = Table(
    "network_node",
    metadata,
    Column("one", SmallInteger, primary_key=True, autoincrement=False),
    Column("name", Id, nullable=False),
    Column("identity", Text, nullable=False),
    Column("term", Number, nullable=False, server_default="0"),
    Column("home", Id, nullable=False, server_default=""),
    Column("restored", Boolean, nullable=False, server_default=false()),
    Column("distribution", Text, nullable=False, server_default="subscriptions"),
    Column("advertised", Number, nullable=False, server_default="0"),
)

# Each start begins one, after the position of the last own event.
network_incarnations = Table(
    "network_incarnations",
    metadata,
    Column("number", Number, primary_key=True, autoincrement=False),
    Column("began", Number, nullable=False),
)

# Up to where the journal has all that subscriptions asked of an origin.
network_marks = Table(
    "network_marks",
    metadata,
    Column("origin", Id, primary_key=True),
    Column("incarnation", Number, nullable=False),
    Column("position", Number, nullable=False),
)

# What an origin no longer kept when it was asked.
network_gaps = Table(
    "network_gaps",
    metadata,
    Column("number", Number, primary_key=True, autoincrement=False),
    Column("origin", Id, nullable=False),
    Column("after", Number, nullable=False),
    Column("through", Number, nullable=False),
    Column("noticed", Number, nullable=False),
)

# The home's log as far as it is known here.
network_orders = Table(
    "network_orders",
    metadata,
    Column("place", Number, primary_key=True, autoincrement=False),
    Column("request", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("body", Text, nullable=False),
)

network_advertisements = Table(
    "network_advertisements",
    metadata,
    Column("id", Id, primary_key=True),
    Column("owner", Id, nullable=False),
    Column("filter", Text, nullable=False),
)

# `token` lets this server in over there, sealed by the vault; `digest` is of the token that the neighbour shows here.
network_links = Table(
    "network_links",
    metadata,
    Column("name", Id, primary_key=True),
    Column("identity", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("token", Text, nullable=False),
    Column("digest", LargeBinary, nullable=False, unique=True),
    Column("joined", Number, nullable=False),
)

# Where events of the journal come from that another server accepted; those without a row are this server's own.
arrivals = Table(
    "arrivals",
    metadata,
    Column("position", Number, primary_key=True, autoincrement=False),
    Column("origin", Id, nullable=False),
    Column("incarnation", Number, nullable=False),
    Column("origin_position", Number, nullable=False),
)
Index("arrivals_of_origin", arrivals.c.origin, arrivals.c.incarnation, arrivals.c.origin_position)

# Lets subscriptions of another server move in, for one account; the server that has them shows the ticket.
network_tickets = Table(
    "network_tickets",
    metadata,
    Column("digest", LargeBinary, primary_key=True),
    Column("owner", Id, nullable=False),
    Column("expires", Number, nullable=False),
)

# Subscriptions on their way to another server, until it has them; `problem` is why it does not take one.
network_departures = Table(
    "network_departures",
    metadata,
    Column("subscription", Id, primary_key=True),
    Column("owner", Id, nullable=False),
    Column("server", Id, nullable=False),
    Column("ticket", Text, nullable=False),
    Column("problem", Text, nullable=False, server_default=""),
)

# Subscriptions that came from another server: an offer that is repeated adds nothing. `server` is that one's name and
# where the subscription began there, `start` where its span begins here, `opened` when the composite began to count,
# there. Of notifications that come before their subscription, "… luggage" has the cursor there, as a negative start.
network_moved_in = Table(
    "network_moved_in",
    metadata,
    Column("subscription", Id, primary_key=True),
    Column("server", Id, primary_key=True),
    Column("start", Number, nullable=False),
    Column("opened", Number, nullable=False),
    Index("moved_in_by_start", "start"),
)
