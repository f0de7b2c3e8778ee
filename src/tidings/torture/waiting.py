"""Waiting for something, but not for ever."""

from __future__ import annotations

import asyncio


async def wait(event: asyncio.Event, seconds: float) -> None:
    """Until the event, or for so long; where there is no time left, others have their turn."""
    try:
        async with asyncio.timeout(max(0.0, seconds)):
            await event.wait()
    except TimeoutError:
        await asyncio.sleep(0)
