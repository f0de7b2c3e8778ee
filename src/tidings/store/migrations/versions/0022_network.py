"""Servers that join a network."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def _key(name: str, kind: sa.types.TypeEngine[Any]) -> sa.Column[Any]:
    return sa.Column(name, kind, primary_key=True, autoincrement=False)


def _needed(name: str, kind: sa.types.TypeEngine[Any], default: Any = None) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False, server_default=default)


def upgrade() -> None:
    op.create_table(
        "network_node",
        _key("one", sa.SmallInteger()),
        _needed("name", _ID),
        _needed("identity", sa.Text()),
        _needed("term", _NUMBER, "0"),
        _needed("home", _ID, ""),
        _needed("restored", sa.Boolean(), sa.false()),
    )
    op.create_table("network_incarnations", _key("number", _NUMBER), _needed("began", _NUMBER))
    op.create_table(
        "network_marks",
        sa.Column("origin", _ID, primary_key=True),
        _needed("incarnation", _NUMBER),
        _needed("position", _NUMBER),
    )
    op.create_table(
        "network_gaps",
        _key("number", _NUMBER),
        _needed("origin", _ID),
        _needed("after", _NUMBER),
        _needed("through", _NUMBER),
        _needed("noticed", _NUMBER),
    )
    op.create_table(
        "network_orders",
        _key("place", _NUMBER),
        _needed("request", sa.Text()),
        _needed("kind", sa.Text()),
        _needed("body", sa.Text()),
    )
    op.create_table(
        "network_advertisements",
        sa.Column("id", _ID, primary_key=True),
        _needed("owner", _ID),
        _needed("filter", sa.Text()),
    )
    op.create_table(
        "network_links",
        sa.Column("name", _ID, primary_key=True),
        _needed("identity", sa.Text()),
        _needed("url", sa.Text()),
        _needed("token", sa.Text()),
        sa.Column("digest", sa.LargeBinary(), nullable=False, unique=True),
        _needed("joined", _NUMBER),
    )
    op.create_table(
        "arrivals",
        _key("position", _NUMBER),
        _needed("origin", _ID),
        _needed("incarnation", _NUMBER),
        _needed("origin_position", _NUMBER),
    )
    op.create_index("arrivals_of_origin", "arrivals", ["origin", "incarnation", "origin_position"])
