"""A clock that is wrong for a while, by minutes, days or a year: that of the service and of all its children."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from tidings.store.clock.clock import OFFSET_FILE

_JUMPS = (600, 86_400, 40 * 86_400, 365 * 86_400)  # seconds


class WrongClock:
    """The file that says by how much is not in the service's folder: the disk may be full there."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._folder = tempfile.TemporaryDirectory(prefix="tidings-clock-")
        self._offset = Path(self._folder.name) / "offset"

    @property
    def environment(self) -> dict[str, str]:
        return {OFFSET_FILE: str(self._offset)}

    def begin(self) -> None:
        self._offset.write_text(str(self._draw.choice((-1, 1)) * self._draw.choice(_JUMPS)))

    def end(self) -> None:
        self._offset.unlink(missing_ok=True)

    def close(self) -> None:
        self._folder.cleanup()
