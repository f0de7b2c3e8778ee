"""What all tables share: types of columns, and the list of tables."""

from __future__ import annotations

from sqlalchemy import BigInteger, Integer, MetaData, Text

# SQLite: only INTEGER can be the row's own number. PostgreSQL: ids are ordered by code point in every locale.
Number = BigInteger().with_variant(Integer, "sqlite")
Id = Text().with_variant(Text(collation="C"), "postgresql")

metadata = MetaData()
