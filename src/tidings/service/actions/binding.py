"""Filters and composites are bound in threads of their own, of one account one at a time.

To bind a text may take a tenth of a second. Neither publishers wait for it, nor readers of the store:
tokens are looked up there, and readiness is judged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar
from weakref import WeakValueDictionary

P = ParamSpec("P")
R = TypeVar("R")

_THREADS = 2  # so that one account never has all of them


class Binders:
    """Of one event loop."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, "tidings-binding")
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def run(self, account: str, ask: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
        turn = self._turns.setdefault(account, asyncio.Lock())
        async with turn:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, lambda: ask(*args, **named))

    def close(self) -> None:
        self._threads.shutdown()
