"""Grow the schema."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tidings.schema.documents.compiling import check_compiles
from tidings.schema.growth import Change, CreateDomain
from tidings.service.gateway import Gateway
from tidings.store import Grow


@dataclass(frozen=True, slots=True)
class SchemaNow:
    """The version that has the changes, and the place of the last one in the journal."""

    version: int
    position: int


async def grow(gateway: Gateway, changes: Sequence[Change]) -> SchemaNow:
    """All of the changes, or none; raises the SchemaError of the first that is refused. In a network the home orders
    one after another: raises GrowthRefused for the first that it refuses, and those before it stay."""
    for change in changes:
        if isinstance(change, CreateDomain) and (grammar := change.domain.document.grammar) is not None:
            await gateway.read(check_compiles, grammar)
    if gateway.network is not None and await gateway.network.has_home():
        position = await gateway.network.grow(changes)
        return SchemaNow((await gateway.read(gateway.store.catalog)).version, position)
    first, *more = changes
    position = (await gateway.append_one(Grow(first, tuple(more)))).position
    (entry,) = await gateway.read(lambda: list(gateway.store.entries(position - 1, position)))
    return SchemaNow(entry.schema_version, position)
