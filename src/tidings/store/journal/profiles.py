"""Application profiles as the journal has them: options that composites may inherit."""

from __future__ import annotations

from sqlalchemy import Connection, select

from tidings.store.tables import composite_profiles


def profiles_of(connection: Connection) -> dict[str, str]:
    """The newest options of each, without those that were removed."""
    rows = connection.execute(select(composite_profiles).order_by(composite_profiles.c.position))
    newest = {row.name: row.options for row in rows}
    return {name: options for name, options in newest.items() if options}
