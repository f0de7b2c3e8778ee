"""Alembic runs this to bring a database up to date, on the connection that `migration` hands over."""

from alembic import context

from tidings.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
