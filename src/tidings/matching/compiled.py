"""Kernels are plain functions on arrays; this is the one place where they are compiled.

Compiled code is kept on disk, in a folder of the user's that `TIDINGS_CACHE` may name, so that a new process starts
quickly. Numba's cache is not made for several writers, so a lock lets one process at a time write to it."""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def cache_folder() -> Path:
    """Where compiled kernels are kept."""
    chosen = os.environ.get("TIDINGS_CACHE")
    if chosen:
        return Path(chosen)
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(home) / "tidings"


def _sources() -> str:
    """A mark of all kernels' sources: numba does not notice that a kernel changed which it compiled into another
    one."""
    mark = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        mark.update(path.read_bytes())
    return mark.hexdigest()[:16]


def _usable_folder() -> Path:
    """Where compiled code goes: the user's folder, or a passing one where that cannot be written."""
    folder = cache_folder() / f"numba-{_sources()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path(tempfile.gettempdir()) / f"tidings-{os.getuid()}" / folder.name
        folder.mkdir(parents=True, exist_ok=True)
    return folder


_FOLDER = _usable_folder()
os.environ.setdefault("NUMBA_CACHE_DIR", str(_FOLDER))

import numba  # noqa: E402  (the folder must be set before numba reads it)


def kernel(function: F) -> F:
    """Compiled at the first call, without the interpreter's lock, and kept on disk."""
    return _compiled(function, inline=False)


def inlined(function: F) -> F:
    """A part of a kernel that is always compiled into its callers."""
    return _compiled(function, inline=True)


def _compiled(function: F, inline: bool) -> F:
    compiled: Any = numba.njit(nogil=True, cache=True, error_model="numpy", forceinline=inline)(function)
    cache = getattr(compiled, "_cache", None)  # there is none when numba is told not to compile
    if cache is not None:
        save = cache.save_overload

        def save_alone(*arguments: Any) -> None:
            with _one_writer():
                save(*arguments)

        cache.save_overload = save_alone
    made: F = compiled
    return made


@contextmanager
def _one_writer() -> Iterator[None]:
    """Numba reads, changes and writes back the cache's index; between processes only one may do so at a time."""
    with open(_FOLDER / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
