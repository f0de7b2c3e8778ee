"""Makes the tables, or brings those of an older release up to date, when a store is opened."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from tidings.store.databases.database import Database
from tidings.store.errors import ForeignDatabase, NewerStore
from tidings.store.tables import NEWEST_REVISION, metadata

SCRIPTS = Path(__file__).parents[1] / "migrations"


def bring_up_to_date(database: Database) -> None:
    """Quick when nothing is to be done: Alembic is loaded only to change something. Raises StoreError."""
    with database.reading() as connection:
        if _revision(connection, database.shown_url) == NEWEST_REVISION:
            return
    with database.writing() as connection:
        if _revision(connection, database.shown_url) != NEWEST_REVISION:  # unless another process was quicker
            _upgrade(connection)


def _revision(connection: Connection, url: str) -> str | None:
    """Which migration the tables are at; None where there are no tables yet."""
    tables = set(inspect(connection).get_table_names())
    if "alembic_version" in tables and "journal" in tables:
        found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        if found is None or found > NEWEST_REVISION:
            raise NewerStore(url, str(found), NEWEST_REVISION)
        return str(found)
    if taken := tables & {"alembic_version", *metadata.tables}:
        raise ForeignDatabase(url, f"it has other tables with the same names ({', '.join(sorted(taken))})")
    return None


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, NEWEST_REVISION)
