"""A file that appears when all of it is written, and not at all when something fails."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(path: Path, durable: bool = False) -> Iterator[BinaryIO]:
    """Written beside its place and renamed in the end, with the permissions of the file that was there.

    `durable`: forced to disk first. A link stays a link. A device or pipe is written through, since a file renamed
    over it would replace it for everybody.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        with target.open("wb") as device:
            yield device
        return
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.")
    except OSError as problem:
        raise type(problem)(problem.errno, problem.strerror, str(path)) from None  # not the passing name
    try:
        with open(handle, "wb") as file:
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        os.chmod(name, _permissions(target))
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _permissions(target: Path) -> int:
    """Those of the file that is there already, else those of any new file."""
    if target.exists():
        return target.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
