"""The kernels of each version of the source are cached in a folder of their own; old ones are removed.

A process claims the folder it uses by a shared lock that it holds until it ends, so that no folder goes while it is in
use. `compiled` claims one; the first process of a new version removes the old ones."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

from tidings.kernels.cache_folder import private_folder

KEPT = 10  # folders that stay however old they are
_UNUSED = 86_400  # seconds after which a folder beyond those is removed
_CLAIM = "claim"


def claimed_folder(kind: str, version: str) -> Path:
    """The folder of this version, which exists as long as this process. Raises UnusableCache, or OSError where the file
    system has no locks."""
    while True:
        folder = private_folder(f"{kind}-{version}")
        fresh = not (folder / _CLAIM).exists()
        claim = os.open(folder / _CLAIM, os.O_RDWR | os.O_CREAT, 0o600)  # stays open: it holds the lock
        fcntl.flock(claim, fcntl.LOCK_SH)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(claim), (folder / _CLAIM).stat()):
                break
        os.close(claim)  # removed after it was opened
    os.utime(claim)
    if fresh:
        _remove_old(folder, kind)
    return folder


def _remove_old(current: Path, kind: str) -> None:
    others = sorted((_last_used(one), one) for one in current.parent.glob(f"{kind}-*") if one != current)
    for used, folder in others[: -KEPT + 1]:
        if time.time() - used > _UNUSED:
            with suppress(OSError):  # in use, or another process removes it
                _remove(folder)


def _last_used(folder: Path) -> float:
    for path in (folder / _CLAIM, folder):
        with suppress(FileNotFoundError):
            return path.stat().st_mtime
    return 0.0


def _remove(folder: Path) -> None:
    """Raises OSError where a process has claimed it. It is renamed first: a process that starts now makes a new one."""
    claim = os.open(folder / _CLAIM, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder.rename(folder.with_name(f"{folder.name}-removed")))
    finally:
        os.close(claim)
