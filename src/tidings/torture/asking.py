"""Requests that are sent again until they are answered, whatever becomes of the service meanwhile."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx

from tidings.torture.record import Record

_AGAIN = frozenset({425, 429, 502, 503, 504})
_IN_USE = "/problems/idempotency-key-in-use"
_PAUSE = 0.1  # seconds
_TIMEOUT = 30.0  # a webhook's receiver may have to be asked first


class Refusal(Exception):
    """An answer that was not expected. It is in the record."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class GivenUp(Exception):
    """Nobody answered before the end of all patience."""


class Asking:
    """Of one account, over one connection after another. `until` is the end of all patience, when there is one."""

    def __init__(self, url: str, record: Record, token: str = "") -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.http = httpx.AsyncClient(base_url=url, headers=headers, trust_env=False, timeout=_TIMEOUT)
        self.until: float | None = None  # by the event loop's clock
        self._record = record

    async def close(self) -> None:
        await self.http.aclose()

    async def ask(
        self, method: str, path: str, body: object = None, key: str = "", fine: tuple[int, ...] = ()
    ) -> httpx.Response:
        """Of success, or with a status that is fine, too. Raises Refusal or GivenUp."""
        headers = {"Idempotency-Key": key} if key else {}
        while True:
            if self.until is not None and asyncio.get_running_loop().time() > self.until:
                raise GivenUp
            try:
                answer = await self.http.request(method, path, json=body, headers=headers)
            except httpx.TransportError:
                self._record.unknown += 1
            else:
                if answer.is_success or answer.status_code in fine:
                    return answer
                if not _is_passing(answer):
                    self._record.refused.append(f"{method} {path}: {answer.status_code} {answer.text[:300]}")
                    raise Refusal(answer.status_code)
            await asyncio.sleep(_PAUSE)

    async def told(self, method: str, path: str, body: object = None, key: str = "") -> dict[str, Any]:
        found: dict[str, Any] = (await self.ask(method, path, body, key)).json()
        return found


def _is_passing(answer: httpx.Response) -> bool:
    if answer.status_code in _AGAIN:
        return True
    return answer.status_code == 409 and _IN_USE in answer.text
