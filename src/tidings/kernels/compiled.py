"""Kernels are plain functions on arrays; only this module compiles them.

Compiled code is cached on disk, so that a new process starts quickly. Without a safe folder (`cache_folder`), each
process compiles for itself and warns once. Numba's cache does not support concurrent writers, so a lock lets one
process at a time write to it. Processes that need the same kernel at the same time compile it once: the others wait."""

from __future__ import annotations

import fcntl
import functools
import hashlib
import inspect
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator

from tidings.kernels.cache_folder import UnusableCache
from tidings.kernels.cache_versions import claimed_folder

F = TypeVar("F", bound=Callable[..., Any])
_log = logging.getLogger(__name__)
_TIDINGS = Path(__file__).parent.parent
_PATIENCE = 60.0  # seconds to wait for another process that compiles; no kernel takes as long
_PAUSE = 0.02


def kernel(function: F) -> F:
    """Compiles the function on its first call; it runs without the GIL."""
    return _compiled(function)


def inlined(function: F) -> F:
    """A part of a kernel that is always inlined into its callers."""
    return _compiled(function, forceinline=True)


def bare_kernel(function: F) -> F:
    """A kernel that neither makes nor returns arrays, so that numba need not count references to them.

    Counting took two thirds of the time to read a document: numba does it for each use of an array in a tuple, also in
    parts that are inlined."""
    return _compiled(function, _nrt=False)


def bare_inlined(function: F) -> F:
    """Such a part of kernels. It may be a part of any kernel."""
    return _compiled(function, forceinline=True, _nrt=False)


def _compiled(function: F, **options: bool) -> F:
    compiled: Any = numba.njit(nogil=True, error_model="numpy", **options)(function)
    room = _room(inspect.getfile(function))
    if room.folder is not None and hasattr(compiled, "enable_caching"):  # false if compilation is disabled in numba
        try:
            cache = _KernelCache(function)
        except (OSError, RuntimeError) as problem:
            room.give_up(str(problem))
        else:
            if Path(cache.cache_path).is_relative_to(room.folder):
                compiled._cache = cache
            else:
                room.give_up("NUMBA_CACHE_LOCATOR_CLASSES names another place")
    made: F = compiled
    return made


class _Room:
    """Where this process caches the kernels of a room; without a folder, it compiles them in memory."""

    def __init__(self, name: str) -> None:
        self.sources = _TIDINGS / name
        self.folder: Path | None = None
        try:
            self.folder = claimed_folder(f"{name}-numba", self._version())
        except (UnusableCache, OSError) as problem:
            _warn(str(problem))

    def _version(self) -> str:
        """A hash of all the room's sources: numba does not notice changes to kernels inlined into others, nor to the
        options that this module compiles them with."""
        mark = hashlib.sha256(numba.__version__.encode())
        for path in (Path(__file__), *sorted(self.sources.rglob("*.py"))):
            mark.update(path.read_bytes())
        return mark.hexdigest()[:16]

    def give_up(self, reason: str) -> None:
        """Disables the cache; warns the first time."""
        if self.folder is not None:
            self.folder = None
            _warn(reason)


@functools.cache
def _warn(reason: str) -> None:
    """Once a process, however many rooms cannot be cached for this reason."""
    _log.warning("kernels are compiled again in each process, since they cannot be cached: %s", reason)


@functools.cache
def _cached(name: str) -> _Room:
    return _Room(name)


def _room(file: str) -> _Room:
    """Kernels outside these rooms, such as those of benchmarks, are cached beside those of matching."""
    return _cached("documents" if Path(file).is_relative_to(_TIDINGS / "documents") else "matching")


@contextmanager
def _one_writer(folder: Path) -> Iterator[None]:
    """Numba reads, modifies and rewrites the cache's index; only one process may do so at a time."""
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class _Locator(UserProvidedCacheLocator):
    """Our own folder, regardless of numba's settings at import time. The folder's name vouches for the sources of its
    room, so their path and time of change do not matter: all installations of a version share its kernels."""

    def __init__(self, function: Any, file: str) -> None:
        super().__init__(function, file)
        room = _room(file)
        assert room.folder is not None
        folder = Path(file).parent
        self._vouched_for = folder.is_relative_to(room.sources)
        below = "-".join(folder.relative_to(_TIDINGS).parts) if self._vouched_for else None
        self._cache_path = str(room.folder / (below or self.get_suitable_cache_subpath(file)))

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
    _compiling: IO[str] | None = None  # locked from a kernel that was not found until the compiled one is saved

    def load_overload(self, signature: Any, target: Any) -> Any:
        found = self._load(signature, target)
        if found is not None or self._compiling is not None:
            return found
        self._compiling = _locked(Path(self.cache_path) / f"{self._impl.filename_base}.compiling")
        found = self._load(signature, target)  # another process may have compiled it meanwhile
        if found is not None:
            self._end_compiling()
        return found

    def _load(self, signature: Any, target: Any) -> Any:
        try:
            return super().load_overload(signature, target)
        except Exception as problem:  # unpickling a damaged file may raise anything
            _log.warning("a cached kernel is damaged and is compiled again: %r", problem)
            self._alone(self.flush)
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        try:
            self._alone(lambda: super(_KernelCache, self).save_overload(signature, compiled))
        finally:
            self._end_compiling()

    def _end_compiling(self) -> None:
        if self._compiling is not None:
            self._compiling.close()
            self._compiling = None

    def _alone(self, write: Callable[[], None]) -> None:
        room = _room(inspect.getfile(self._py_func))
        if room.folder is None:
            return
        try:
            with _one_writer(room.folder):
                write()
        except OSError as problem:
            room.give_up(str(problem))


def _locked(path: Path) -> IO[str] | None:
    """The file, locked; not locked where another process holds it for too long, and None where it cannot be made."""
    try:
        lock = open(path, "w")  # noqa: SIM115  (until the compiled kernel is saved)
    except OSError:
        return None
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        except OSError:
            time.sleep(_PAUSE)
    return lock
