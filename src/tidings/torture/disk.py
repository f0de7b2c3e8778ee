"""A small disk of its own under the service's data folder, which the torture fills up for some seconds."""

from __future__ import annotations

import errno
import os
import subprocess
from contextlib import suppress
from pathlib import Path

_SIZE = "1g"
_BALLAST = "ballast"
_PIECE = b"\0" * (1 << 20)


class SmallDisk:
    """Mounted over the folder: Linux only, and root only. `usable` says whether it is there."""

    def __init__(self, folder: Path, size: str = _SIZE) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tidings-torture", str(folder)]
        try:
            self.usable = subprocess.run(mount, capture_output=True, check=False).returncode == 0
        except FileNotFoundError:
            self.usable = False

    def begin(self) -> None:
        """Fills it until nothing fits any more."""
        with suppress(OSError), (self._folder / _BALLAST).open("ab", buffering=0) as file:
            size = len(_PIECE)
            while size:
                try:
                    file.write(_PIECE[:size])
                except OSError as problem:
                    if problem.errno != errno.ENOSPC:
                        raise
                    size //= 2

    def end(self) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self._folder / _BALLAST)

    def close(self) -> None:
        """The data goes with it."""
        if self.usable:
            self.usable = False
            subprocess.run(["umount", "--lazy", str(self._folder)], capture_output=True, check=False)
