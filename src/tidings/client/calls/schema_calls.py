"""The schema and its growth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tidings.client.calls.twins import explained_by
from tidings.client.growing import Use, attribute, domain, event_type, extension, headline, node, value
from tidings.client.requests import schema_requests
from tidings.client.sending import AsyncSender, Sender
from tidings.schema import Catalog
from tidings.schema.growth import Change


class SchemaCalls(Sender):
    def schema(self) -> Catalog:
        """The newest schema; `client.schema().event_type_names`"""
        return self._call(schema_requests.schema())

    def grow(self, change: Change) -> int:
        """Makes one change to the schema; returns the new version."""
        return self._call(schema_requests.grow(change))

    def create_domain(
        self,
        name: str,
        kind: str,
        *,
        operators: Iterable[str] | None = None,
        values: Iterable[str] = (),
        ordered: bool = False,
        tree: Mapping[str, Any] | None = None,
    ) -> int:
        """`create_domain("brand", "enumerated", values=["opel", "mini"])`"""
        return self.grow(domain(name, kind, operators, values, ordered, tree))

    def create_attribute(self, name: str, domain: str) -> int:
        """`create_attribute("price", "money")`"""
        return self.grow(attribute(name, domain))

    def create_event_type(self, name: str, attributes: Iterable[Use] = (), *, headline: str = "") -> int:
        """`create_event_type("car", ["price", {"name": "paint", "mandatory": False, "unique": False}])`"""
        return self.grow(event_type(name, attributes, headline))

    def extend_event_type(self, name: str, attribute: str, *, unique: bool = True) -> int:
        """Adds an optional attribute: `extend_event_type("car", "colour")`"""
        return self.grow(extension(name, attribute, unique))

    def set_headline(self, event_type: str, attribute: str) -> int:
        """Sets the attribute shown as the title of a type's events: `set_headline("car", "title")`"""
        return self.grow(headline(event_type, attribute))

    def append_value(self, domain: str, new: str) -> int:
        """`append_value("brand", "audi")`"""
        return self.grow(value(domain, new))

    def append_node(self, domain: str, new: str, parent: str | None = None) -> int:
        """`append_node("category", "sofa", "furniture")`; without a parent it is a new root."""
        return self.grow(node(domain, new, parent))


@explained_by(SchemaCalls)
class AsyncSchemaCalls(AsyncSender):
    async def schema(self) -> Catalog:
        return await self._call(schema_requests.schema())

    async def grow(self, change: Change) -> int:
        return await self._call(schema_requests.grow(change))

    async def create_domain(
        self,
        name: str,
        kind: str,
        *,
        operators: Iterable[str] | None = None,
        values: Iterable[str] = (),
        ordered: bool = False,
        tree: Mapping[str, Any] | None = None,
    ) -> int:
        return await self.grow(domain(name, kind, operators, values, ordered, tree))

    async def create_attribute(self, name: str, domain: str) -> int:
        return await self.grow(attribute(name, domain))

    async def create_event_type(self, name: str, attributes: Iterable[Use] = (), *, headline: str = "") -> int:
        return await self.grow(event_type(name, attributes, headline))

    async def extend_event_type(self, name: str, attribute: str, *, unique: bool = True) -> int:
        return await self.grow(extension(name, attribute, unique))

    async def set_headline(self, event_type: str, attribute: str) -> int:
        return await self.grow(headline(event_type, attribute))

    async def append_value(self, domain: str, new: str) -> int:
        return await self.grow(value(domain, new))

    async def append_node(self, domain: str, new: str, parent: str | None = None) -> int:
        return await self.grow(node(domain, new, parent))
