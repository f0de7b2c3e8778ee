"""Who waits for what the machine tells: of a command by its name, of a search by the name of that."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from tidings.overlay import messages as m


class Answers:
    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Future[m.Told]] = {}
        self._searches: dict[str, asyncio.Queue[m.Found]] = {}

    @contextmanager
    def awaited(self, name: str) -> Iterator[asyncio.Future[m.Told]]:
        """What is told under this name, from now on."""
        answer: asyncio.Future[m.Told] = asyncio.get_running_loop().create_future()
        self._waiting[name] = answer
        try:
            yield answer
        finally:
            self._waiting.pop(name, None)

    @contextmanager
    def searching(self, name: str) -> Iterator[asyncio.Queue[m.Found]]:
        """What servers answer to the search of this name."""
        answers = self._searches[name] = asyncio.Queue[m.Found]()
        try:
            yield answers
        finally:
            del self._searches[name]

    def tell(self, name: str, told: m.Told) -> None:
        if isinstance(told, m.Found):
            if name in self._searches:
                self._searches[name].put_nowait(told)
        elif (waiting := self._waiting.pop(name, None)) and not waiting.done():
            waiting.set_result(told)
