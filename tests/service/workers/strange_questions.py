"""Questions that end badly, for the processes that answer questions."""

import os
import sys
import time

from tidings.errors import TidingsError
from tidings.store import Store


class Strange(TidingsError):
    def __init__(self, one: str, other: int) -> None:
        super().__init__(one, other)


def process(store: Store) -> int:
    return os.getpid()


def loaded(store: Store, name: str) -> bool:
    return name in sys.modules


def sleeping(store: Store, seconds: float) -> str:
    time.sleep(seconds)
    return "slept"


def dying(store: Store) -> None:
    os._exit(1)


def printing(store: Store) -> str:
    print("in between")
    return "printed"


def failing(store: Store) -> None:
    raise ValueError("a defect")


def refusing(store: Store) -> None:
    raise Strange("part", 7)


def unfit_answer(store: Store) -> object:
    return lambda: None


def echo(store: Store, data: bytes) -> bytes:
    return data
