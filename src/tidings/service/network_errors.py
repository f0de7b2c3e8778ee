"""What can go wrong between linked servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.errors import Explained, SchemaError, ServiceError

if TYPE_CHECKING:
    pass


class NoNetwork(Explained, ServiceError):
    template = "this server has no name, so it is not part of a network: start it with `tidings serve --name NAME`"


class ServerNameTaken(Explained, ServiceError):
    name: str
    template = "{name!r} is the name of another server here; every server of a network needs its own name"


class NotJoined(Explained, ServiceError):
    url: str
    reason: str
    template = "{url} did not accept the link: {reason}"


class NoSuchLink(Explained, ServiceError):
    """The name of the other server; empty where only its token is known."""

    name: str
    template = "there is no link to {server}; `tidings link list` shows all"

    @property
    def server(self) -> str:
        return repr(self.name) if self.name else "the server with this token"


class NoSuchServer(Explained, ServiceError):
    name: str
    known: str
    template = "no server {name!r} can be reached from here; known: {known}"


class GrowthRefused(SchemaError):
    """By the home of the network, or because it cannot be reached."""

    reason: str
    template = "the network's home did not grow the schema: {reason}"
