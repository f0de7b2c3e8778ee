"""Two machines on one: network namespaces with a cable between them, each with a root file system of its own.

A machine sees the system's programs read-only and, beyond these, only what is in its own folder. So neither sees the
other's files, its `/tmp`, or this repository, unless it was given to it."""

from __future__ import annotations

import os
import signal
import subprocess
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ADDRESSES = ("192.0.2.1", "192.0.2.2")  # kept for documentation: nobody is there
_SYSTEM = ("usr", "etc", "dev", "proc", "sys", "root/.pyenv")
_LINKS = ("bin", "sbin", "lib", "lib64")


@dataclass(frozen=True)
class Machine:
    """`given` are folders that it has beside its own, by where it sees them."""

    namespace: str
    address: str
    root: Path
    given: Mapping[str, Path]

    def start(self, *command: str, env: Mapping[str, str] | None = None, **options: Any) -> subprocess.Popen[bytes]:
        """A process on this machine, the leader of a group of its own."""
        mounts = [(Path("/") / name, name) for name in _SYSTEM if (Path("/") / name).exists()]
        mounts += [(source, target.lstrip("/")) for target, source in self.given.items()]
        lines = ["set -e"]
        for source, target in mounts:
            lines += [f"mkdir -p '{self.root}/{target}'", f"mount --rbind '{source}' '{self.root}/{target}'"]
        lines.append(f"exec chroot '{self.root}' \"$@\"")
        enter = ["ip", "netns", "exec", self.namespace, "unshare", "--mount", "--propagation", "private"]
        whole = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/home", "LANG": "C.UTF-8", **(env or {})}
        return subprocess.Popen(
            [*enter, "sh", "-c", "\n".join(lines), "sh", *command], env=whole, start_new_session=True, **options
        )

    def run(self, *command: str, env: Mapping[str, str] | None = None) -> str:
        process = self.start(*command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        printed = process.communicate(timeout=300)[0].decode()
        assert process.returncode == 0, printed
        return printed


@contextmanager
def two_machines(
    folder: Path, given: tuple[Mapping[str, Path], Mapping[str, Path]]
) -> Iterator[tuple[Machine, Machine]]:
    names = [f"tidings-{uuid.uuid4().hex[:6]}" for _ in ADDRESSES]
    cables = [f"td{uuid.uuid4().hex[:8]}" for _ in ADDRESSES]
    try:
        for name in names:
            _ip("netns", "add", name)
        _ip("link", "add", cables[0], "netns", names[0], "type", "veth", "peer", "name", cables[1], "netns", names[1])
        for name, cable, address in zip(names, cables, ADDRESSES, strict=True):
            _ip("-n", name, "link", "set", "lo", "up")
            _ip("-n", name, "addr", "add", f"{address}/24", "dev", cable)
            _ip("-n", name, "link", "set", cable, "up")
        machines = []
        for place, (name, address) in enumerate(zip(names, ADDRESSES, strict=True)):
            root = folder / f"machine{place}"
            for part in ("tmp", "home", "work", "root"):
                (root / part).mkdir(parents=True)
            for link in _LINKS:
                if (Path("/") / link).is_symlink():
                    (root / link).symlink_to(f"usr/{link}")
            machines.append(Machine(name, address, root, given[place]))
        yield machines[0], machines[1]
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


def end(process: subprocess.Popen[bytes]) -> None:
    """A machine's process with all that it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)
