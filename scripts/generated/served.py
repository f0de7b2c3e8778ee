"""The real application over an empty store in a passing folder, asked without a network."""

from __future__ import annotations

import asyncio
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

from tidings.service import Gateway
from tidings.service.http import make_app
from tidings.settings import Settings
from tidings.store import Store


@cache
def application() -> tuple[FastAPI, dict[str, Any]]:
    """The application (its gateway is closed) and its OpenAPI document."""
    app, document, _ = _asked()
    return app, document


@cache
def metrics_text() -> str:
    return _asked()[2]


@cache
def _asked() -> tuple[FastAPI, dict[str, Any], str]:
    with tempfile.TemporaryDirectory() as folder, Store.open(str(Path(folder) / "tidings.db")) as store:
        return asyncio.run(_ask(store, Settings(data=Path(folder), pipeline=False, outbox=False)))


async def _ask(store: Store, settings: Settings) -> tuple[FastAPI, dict[str, Any], str]:
    gateway = Gateway(store, settings)
    app = make_app(gateway)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
        (await client.get("/healthz")).raise_for_status()  # so that a route has been counted
        answer = await client.get("/metrics")
    document = app.openapi()
    await app.state.closing.aclose()
    await gateway.close()
    return app, document, answer.raise_for_status().text
