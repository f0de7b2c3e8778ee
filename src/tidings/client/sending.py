"""The two senders: they carry out the steps of a flow with httpx, and know nothing of what is sent."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Generator, Iterator
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from tidings.client import flows
from tidings.client.answers import Ended
from tidings.client.connection import DEFAULT_URL, Connection
from tidings.client.event_source import EventSource
from tidings.client.flows import Flow, Give, Heard, Patience, Pause, Step
from tidings.client.request import Request
from tidings.client.requests.delivery_requests import Listen, notification_of

T = TypeVar("T")


class Sender(Connection):
    """Waits for each step."""

    def __init__(
        self,
        url: str = DEFAULT_URL,
        token: str | None = None,
        *,
        patience: Patience | None = None,
        timeout: float = 30.0,
    ) -> None:
        super().__init__(url, token, patience=patience, timeout=timeout)
        self._http = httpx.Client(**self._options)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _call(self, request: Request[T]) -> T:
        return self._run(flows.call(request, self.patience))

    def _run(self, flow: Flow[T]) -> T:
        heard: Heard = None
        while True:
            try:
                step = flow.send(heard)
            except StopIteration as end:
                result: T = end.value
                return result
            heard = self._do(step)

    def _each(self, flow: Flow[None]) -> Iterator[Any]:
        heard: Heard = None
        while True:
            try:
                step = flow.send(heard)
            except StopIteration:
                return
            heard = None
            if isinstance(step, Give):
                yield from step.items
            elif isinstance(step, Listen):
                heard = yield from self._listen(step)
            else:
                heard = self._do(step)

    def _listen(self, step: Listen) -> Generator[Any, None, Heard]:
        """Gives what the stream gives, and answers how it ended."""
        source = EventSource(step.after)
        opened = False
        try:
            with self._http.stream(**self._arguments(step.request)) as response:
                if response.status_code != httpx.codes.OK:
                    response.read()
                    return self._answer(response)
                opened = True
                for data in response.iter_raw():
                    for message in source.feed(data):
                        if (found := notification_of(message)) is not None:
                            yield found
        except httpx.HTTPError as problem:
            lost = self._lost(problem)
            return Ended(source.last, lost.reason) if opened else lost
        return Ended(source.last, "the server closed the stream")

    def _do(self, step: Step) -> Heard:
        match step:
            case Pause(seconds):
                time.sleep(seconds)
                return None
            case Request():
                try:
                    return self._answer(self._http.request(**self._arguments(step)))
                except httpx.HTTPError as problem:
                    return self._lost(problem)
        raise TypeError(f"{step!r} is nothing to do")


class AsyncSender(Connection):
    """Awaits each step."""

    def __init__(
        self,
        url: str = DEFAULT_URL,
        token: str | None = None,
        *,
        patience: Patience | None = None,
        timeout: float = 30.0,
    ) -> None:
        super().__init__(url, token, patience=patience, timeout=timeout)
        self._http = httpx.AsyncClient(**self._options)

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _call(self, request: Request[T]) -> T:
        return await self._run(flows.call(request, self.patience))

    async def _run(self, flow: Flow[T]) -> T:
        heard: Heard = None
        while True:
            try:
                step = flow.send(heard)
            except StopIteration as end:
                result: T = end.value
                return result
            heard = await self._do(step)

    async def _each(self, flow: Flow[None]) -> AsyncIterator[Any]:
        heard: Heard = None
        while True:
            try:
                step = flow.send(heard)
            except StopIteration:
                return
            heard = None
            if isinstance(step, Give):
                for item in step.items:
                    yield item
            elif isinstance(step, Listen):
                ending: list[Heard] = []  # a generator for an event loop answers nothing
                async for found in self._listen(step, ending):
                    yield found
                heard = ending[0]
            else:
                heard = await self._do(step)

    async def _listen(self, step: Listen, ending: list[Heard]) -> AsyncIterator[Any]:
        """Gives what the stream gives, and leaves how it ended."""
        source = EventSource(step.after)
        opened = False
        try:
            async with self._http.stream(**self._arguments(step.request)) as response:
                if response.status_code != httpx.codes.OK:
                    await response.aread()
                    ending.append(self._answer(response))
                    return
                opened = True
                async for data in response.aiter_raw():
                    for message in source.feed(data):
                        if (found := notification_of(message)) is not None:
                            yield found
        except httpx.HTTPError as problem:
            lost = self._lost(problem)
            ending.append(Ended(source.last, lost.reason) if opened else lost)
        else:
            ending.append(Ended(source.last, "the server closed the stream"))

    async def _do(self, step: Step) -> Heard:
        match step:
            case Pause(seconds):
                await asyncio.sleep(seconds)
                return None
            case Request():
                try:
                    return self._answer(await self._http.request(**self._arguments(step)))
                except httpx.HTTPError as problem:
                    return self._lost(problem)
        raise TypeError(f"{step!r} is nothing to do")
