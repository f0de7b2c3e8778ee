"""Clients of a running service: the real application in a real uvicorn, with a store of its own."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.service.conftest import SETTINGS, Service, service  # noqa: F401  # a fixture
from tidings.client import AsyncClient, Client, Patience
from tidings.settings import Settings

QUICK = Patience(retries=3, first=0.01, longest=0.05)  # what is waited for here comes soon or never


def calls_of(client: type[Client] | type[AsyncClient]) -> set[str]:
    """The names of everything it can ask of a server."""
    return {name for name in dir(client) if not name.startswith("_")} - {"close"}


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Which database it is does not matter to a client."""
    return str(tmp_path / "tidings.db")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return replace(SETTINGS, data=tmp_path)


@pytest.fixture
def ann(service: Service) -> Iterator[Client]:  # noqa: F811
    """A registered user's client."""
    with Client(service.address, patience=QUICK) as client:
        client.register("ann", "correct horse battery")
        yield client
