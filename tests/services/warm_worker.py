"""Inquiry workers that start in milliseconds: each is forked from a process that has already loaded what they need.

A service starts a worker at the first question that it is asked, which takes a second of a processor, nearly all of it
to load libraries. That real start is tested in `tests/service/workers/test_inquiries.py`."""

from __future__ import annotations

import atexit
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

_ROOT = Path(__file__).parents[2]
_one_at_a_time = threading.Lock()


class ForkedWorker:
    """What `inquiries` needs of a `Popen`. It is no child of this process, so it is watched through a descriptor."""

    def __init__(self, pid: int, stdin: int, stdout: int) -> None:
        self.pid = pid
        self._descriptor = os.pidfd_open(pid)
        self.stdin, self.stdout = os.fdopen(stdin, "wb", 0), os.fdopen(stdout, "rb", 0)

    def poll(self) -> int | None:
        return self._wait(0)

    def kill(self) -> None:
        if self.poll() is None:
            signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)

    def __enter__(self) -> ForkedWorker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stdin.close()
        self.stdout.close()
        self._wait(None)
        os.close(self._descriptor)

    def _wait(self, seconds: float | None) -> int | None:
        polled = select.poll()
        polled.register(self._descriptor, select.POLLIN)
        return 0 if polled.poll(seconds) else None


def start_forked() -> ForkedWorker:
    """Instead of `start_worker` of `inquiries`."""
    (child_in, stdin), (stdout, child_out) = os.pipe(), os.pipe()
    place = pickle.dumps((os.getcwd(), dict(os.environ)))
    with _one_at_a_time:
        mother = _mother()
        socket.send_fds(mother, [b"+"], [child_in, child_out, 2])
        mother.sendall(len(place).to_bytes(8) + place)
        pid = int.from_bytes(_received(mother, 8))
    os.close(child_in)
    os.close(child_out)
    return ForkedWorker(pid, stdin, stdout)


@cache
def _mother() -> socket.socket:
    here, there = socket.socketpair()
    command = [sys.executable, "-m", __name__, str(there.fileno())]
    process = subprocess.Popen(command, cwd=_ROOT, stdin=subprocess.DEVNULL, pass_fds=[there.fileno()])
    there.close()

    def end() -> None:
        here.close()
        process.wait()

    atexit.register(end)
    return here


def _received(connection: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        piece = connection.recv(size - len(received))
        if not piece:
            raise EOFError
        received += piece
    return received


def _serve(connection: socket.socket) -> None:
    """The mother: forks a worker for each request, until nobody can ask any more."""
    from tidings.service.workers import inquiry_worker

    inquiry_worker.load()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children
    while True:
        begun, descriptors, _, _ = socket.recv_fds(connection, 1, 3)
        if not begun:
            return
        place: Any = pickle.loads(_received(connection, int.from_bytes(_received(connection, 8))))
        pid = os.fork()
        if not pid:
            _become_worker(connection, descriptors, *place)
        for descriptor in descriptors:
            os.close(descriptor)
        connection.sendall(pid.to_bytes(8))


def _become_worker(connection: socket.socket, descriptors: list[int], folder: str, environment: dict[str, str]) -> None:
    from tidings.service.workers import inquiry_worker

    try:
        connection.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        inquiry_worker.main()
    finally:
        os._exit(1)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
