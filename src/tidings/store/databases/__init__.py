"""SQLite and PostgreSQL: short transactions, bulk writes, errors in plain words, and the tables brought up to date."""
