"""The folder that compiled kernels are cached in: found, created and checked before anything is read from it.

Numba's cache is pickle, so anyone with write access to the folder can run code as this user. A folder is used only when
it belongs to this user and nobody else can write to it or replace it."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class UnusableCache(Exception):
    """Why kernels cannot be cached."""


def cache_folder() -> Path:
    """Where Tidings caches things for this user: `TIDINGS_CACHE`, else `tidings` in the user's cache folder."""
    chosen = os.environ.get("TIDINGS_CACHE")
    if chosen:
        return Path(chosen)
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(home) / "tidings"


def private_folder(name: str) -> Path:
    """A folder of this name that only this user can write to; created if missing.

    It is in the cache folder. If that is unusable and was not set by `TIDINGS_CACHE`, it is in the system's temporary
    directory. Raises UnusableCache with the reason why the cache folder is unusable."""
    try:
        return _checked(cache_folder() / name)
    except UnusableCache as problem:
        if os.environ.get("TIDINGS_CACHE"):
            raise
        try:
            return _checked(Path(tempfile.gettempdir()) / f"tidings-{os.getuid()}" / name)
        except (UnusableCache, OSError):
            raise problem from None


def _checked(folder: Path) -> Path:
    """The folder with symbolic links resolved: they might point elsewhere by the time it is used."""
    try:
        whole = folder.resolve()
        for part in reversed([whole, *whole.parents]):
            if not part.exists():
                part.mkdir(mode=0o700, exist_ok=True)
            found = part.stat(follow_symlinks=False)
            if part == whole or part == whole.parent:
                _check_own(part, found)
            else:
                _check_parent(part, found)
        tempfile.TemporaryFile(dir=whole).close()
    except (OSError, RuntimeError) as problem:  # RuntimeError: a loop of symbolic links, or a user without a home
        raise UnusableCache(f"{folder} cannot be written: {getattr(problem, 'strerror', None) or problem}") from None
    return whole


def _check_own(part: Path, found: os.stat_result) -> None:
    if not stat.S_ISDIR(found.st_mode):
        raise UnusableCache(f"{part} is not a folder")
    if found.st_uid != os.geteuid():
        raise UnusableCache(f"{part} belongs to another user")
    if found.st_mode & _WRITABLE_BY_OTHERS:
        raise UnusableCache(f"other users can write to {part}; remove it")


def _check_parent(part: Path, found: os.stat_result) -> None:
    """Anyone who can rename entries of a parent folder can replace our folder with their own."""
    if found.st_uid not in (0, os.geteuid()):
        raise UnusableCache(f"{part} belongs to another user")
    if found.st_mode & _WRITABLE_BY_OTHERS and not found.st_mode & stat.S_ISVTX:
        raise UnusableCache(f"other users can write to {part}")
