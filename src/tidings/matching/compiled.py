"""Kernels are plain functions on arrays; only this module compiles them.

Compiled code is cached on disk, so that a new process starts quickly. Without a safe folder (`cache_folder`), each
process compiles for itself and warns once. Numba's cache does not support concurrent writers, so a lock lets one
process at a time write to it."""

from __future__ import annotations

import fcntl
import hashlib
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator

from tidings.matching.cache_folder import UnusableCache
from tidings.matching.cache_versions import claimed_folder

F = TypeVar("F", bound=Callable[..., Any])
_log = logging.getLogger(__name__)
_HERE = Path(__file__).parent


def kernel(function: F) -> F:
    """Compiles the function on its first call; it runs without the GIL."""
    return _compiled(function, inline=False)


def inlined(function: F) -> F:
    """A part of a kernel that is always inlined into its callers."""
    return _compiled(function, inline=True)


def _compiled(function: F, inline: bool) -> F:
    compiled: Any = numba.njit(nogil=True, error_model="numpy", forceinline=inline)(function)
    if _cache.folder is not None and hasattr(compiled, "enable_caching"):  # false if compilation is disabled in numba
        try:
            cache = _KernelCache(function)
        except (OSError, RuntimeError) as problem:
            _cache.give_up(str(problem))
        else:
            if Path(cache.cache_path).is_relative_to(_cache.folder):
                compiled._cache = cache
            else:
                _cache.give_up("NUMBA_CACHE_LOCATOR_CLASSES names another place")
    made: F = compiled
    return made


class _Cache:
    """Where this process caches kernels; without a folder, it compiles them in memory."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        try:
            self.folder = claimed_folder("numba", _version())
        except (UnusableCache, OSError) as problem:
            self._warn(str(problem))

    def give_up(self, reason: str) -> None:
        """Disables the cache; warns the first time."""
        if self.folder is not None:
            self.folder = None
            self._warn(reason)

    def _warn(self, reason: str) -> None:
        _log.warning("kernels are compiled again in each process, since they cannot be cached: %s", reason)


def _version() -> str:
    """A hash of all kernels' sources: numba does not notice changes to kernels inlined into others."""
    mark = hashlib.sha256(numba.__version__.encode())
    for path in sorted(_HERE.rglob("*.py")):
        mark.update(path.read_bytes())
    return mark.hexdigest()[:16]


_cache = _Cache()


@contextmanager
def _one_writer(folder: Path) -> Iterator[None]:
    """Numba reads, modifies and rewrites the cache's index; only one process may do so at a time."""
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class _Locator(UserProvidedCacheLocator):
    """Our own folder, regardless of numba's settings at import time. The folder's name vouches for the sources in this
    package, so their path and time of change do not matter: all installations of a version share its kernels."""

    def __init__(self, function: Any, file: str) -> None:
        super().__init__(function, file)
        assert _cache.folder is not None
        folder = Path(file).parent
        self._vouched_for = folder.is_relative_to(_HERE)
        below = "-".join(folder.relative_to(_HERE.parent).parts) if self._vouched_for else None
        self._cache_path = str(_cache.folder / (below or self.get_suitable_cache_subpath(file)))

    def get_source_stamp(self) -> Any:
        return "" if self._vouched_for else super().get_source_stamp()

    @classmethod
    def from_function(cls, function: Any, file: str) -> _Locator:
        made = cls(function, file)
        made.ensure_cache_path()
        return made


class _KernelCacheImpl(CompileResultCacheImpl):
    _locator_classes = (_Locator,)


class _KernelCache(FunctionCache):
    """Cache errors are not fatal: unreadable code is compiled again, unwritable code stays in memory."""

    _impl_class = _KernelCacheImpl

    def load_overload(self, signature: Any, target: Any) -> Any:
        try:
            return super().load_overload(signature, target)
        except Exception as problem:  # unpickling a damaged file may raise anything
            _log.warning("a cached kernel is damaged and is compiled again: %r", problem)
            self._alone(self.flush)
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        self._alone(lambda: super(_KernelCache, self).save_overload(signature, compiled))

    def _alone(self, write: Callable[[], None]) -> None:
        if _cache.folder is None:
            return
        try:
            with _one_writer(_cache.folder):
                write()
        except OSError as problem:
            _cache.give_up(str(problem))
