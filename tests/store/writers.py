"""Processes that write to one store at the same time, or are killed while they do.

`python -m tests.store.writers URL together PROCESSES EVENTS` and `… URL killed ROUNDS SEED` print a line for every
outcome that a writer was told: its name, the event's id, what it was told and the position; `… URL opened PROCESSES 0`
prints the journal's id for each. They are forked from one that has everything loaded, so that they are quick to make.
"""

import os
import random
import signal
import sys
import time
from collections.abc import Callable
from functools import partial

from tests.store.samples import publish
from tidings.store import Accepted, Draft, Duplicate, Edit, Outcome, Publish, Store, Subscribe, Withdraw

SHARED = 200  # events that every writer publishes


def opened(url: str, processes: int, _: int) -> None:
    """Each opens the store, which is not there yet, and tells the journal's id."""
    all_end_well([forked(lambda: tell_id(url)) for _ in range(processes)])


def tell_id(url: str) -> None:
    with Store.open(url) as store:
        os.write(1, f"{store.id}\n".encode())


def together(url: str, processes: int, events: int) -> None:
    """Each publishes its own events and, in another order, the same as all others."""
    all_end_well([forked(partial(write_all, url, name, events)) for name in range(processes)])


def all_end_well(processes: list[tuple[int, int]]) -> None:
    for pid, pipe in processes:
        sys.stdout.buffer.write(read_to_end(pipe))
        _, status = os.waitpid(pid, 0)
        assert status == 0, status


def write_all(url: str, name: int, events: int) -> None:
    chance = random.Random(name)
    ids = [f"{name}-{number}" for number in range(events)] + [f"shared-{number}" for number in range(SHARED)]
    chance.shuffle(ids)
    with Store.open(url) as store:
        while ids:
            some, ids = ids[: (size := chance.choice((1, 1, 2, 20)))], ids[size:]
            tell(name, some, store.append([publish(id) for id in some]))


def killed(url: str, rounds: int, seed: int) -> None:
    """Two writers at a time, each killed at some moment; nobody tidies up after them."""
    chance = random.Random(seed)
    for round in range(rounds):
        writers = [forked(partial(write_on, url, f"{round}.{half}")) for half in range(2)]
        for pid, pipe in writers:
            told = os.read(pipe, 1 << 16)  # it has begun: something was acknowledged
            time.sleep(chance.random() * 0.03)
            os.kill(pid, signal.SIGKILL)
            sys.stdout.buffer.write(whole_lines(told + read_to_end(pipe)))
            os.waitpid(pid, 0)


def write_on(url: str, name: str) -> None:
    """Events, subscriptions and changes of them, in groups of any size, until it is killed."""
    chance = random.Random(name)
    number = 0
    with Store.open(url) as store:
        while True:
            drafts: list[Draft] = []
            for _ in range(chance.choice((1, 3, 300))):
                number += 1
                kind = chance.randrange(10)
                id = f"{name}-{chance.randrange(20)}"
                if kind == 0:
                    drafts.append(Subscribe(id, f"price < {number}"))
                elif kind == 1:
                    drafts.append(chance.choice((Withdraw(id), Edit(id, f"price > {number}"))))
                else:
                    drafts.append(publish(f"{name}-{number}"))
            outcomes = store.append(drafts)
            pairs = [pair for pair in zip(drafts, outcomes, strict=True) if isinstance(pair[0], Publish)]
            ids = [str(draft.raw["id"]) for draft, _ in pairs if isinstance(draft, Publish)]  # type: ignore[index]
            tell(name, ids, [outcome for _, outcome in pairs])


def tell(name: object, ids: list[str], outcomes: list[Outcome]) -> None:
    lines = []
    for id, outcome in zip(ids, outcomes, strict=True):
        assert isinstance(outcome, Accepted | Duplicate), outcome
        lines.append(f"{name} {id} {type(outcome).__name__} {outcome.position}\n")
    os.write(1, "".join(lines).encode())


def forked(work: Callable[[], None]) -> tuple[int, int]:
    """The process's id, and what it writes to its standard output."""
    read, write = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        os.close(write)
        return pid, read
    try:
        os.dup2(write, 1)
        work()
        os._exit(0)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(1)


def read_to_end(pipe: int) -> bytes:
    parts = []
    while part := os.read(pipe, 1 << 16):
        parts.append(part)
    os.close(pipe)
    return b"".join(parts)


def whole_lines(text: bytes) -> bytes:
    """Without a line that was cut by the kill."""
    return text[: text.rfind(b"\n") + 1]


if __name__ == "__main__":
    url, what, first, second = sys.argv[1:]
    {"opened": opened, "together": together, "killed": killed}[what](url, int(first), int(second))
