import asyncio
from typing import Any, cast

import pytest

from tidings.service import pulse
from tidings.service.gateway import Gateway
from tidings.store.figures import Growth


def test_whatever_goes_wrong_the_pulse_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ended, and readiness was judged by an old lag."""
    monkeypatch.setattr(pulse, "EVERY", 0)
    seen = Growth(1, 1, 1, 0, 0, 1)

    class Reading:
        store = cast(Any, type("Store", (), {"database": None}))
        asked = 0

        async def read(self, *_: object) -> Growth:
            self.asked += 1
            if self.asked == 1:
                raise MemoryError
            return seen

    async def run() -> None:
        beating = pulse.Pulse(cast(Gateway, Reading()))
        beating.start()
        async with asyncio.timeout(10):
            while not beating.beats:
                await asyncio.sleep(0)
        await beating.close()
        assert beating.beats[0].seen == seen

    asyncio.run(run())
