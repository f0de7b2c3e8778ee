"""What all tables share: types of columns, the list of tables, and indexes of some of the rows."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Index, Integer, MetaData, Text

# SQLite: only INTEGER can be the row's own number. PostgreSQL: ids are ordered by code point in every locale.
Number = BigInteger().with_variant(Integer, "sqlite")
Id = Text().with_variant(Text(collation="C"), "postgresql")

metadata = MetaData()


def partial_index(name: str, *columns: Any, where: Any, unique: bool = False) -> Index:
    """Of the rows for which the condition holds. `for_postgresql` says so for the other database: naming it here would
    load its dialect, which takes longer than all tables."""
    return Index(name, *columns, unique=unique, sqlite_where=where, info={"where": where})


def for_postgresql() -> None:
    """Before a database of PostgreSQL is used."""
    for table in metadata.tables.values():
        for index in table.indexes:
            if "where" in index.info:
                index.dialect_kwargs["postgresql_where"] = index.info["where"]
