"""A process of `inquiries`: reads questions from its standard input, writes answers to its standard output.

It ends as soon as its input does, in the middle of an answer too, so that it never outlives the service.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import traceback
from functools import partial
from queue import SimpleQueue
from typing import Any

from tidings.errors import TidingsError
from tidings.service.workers.frames import read_frame, write_frame
from tidings.service.workers.inquiries import NoAnswer
from tidings.store import Store


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a Ctrl-C at the terminal; the service says when to end
    answers = os.dup(1)
    os.dup2(2, 1)  # whatever prints must not come between the answers
    questions: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_read, args=(questions,), daemon=True).start()
    url = questions.get().decode()
    load()
    write_frame(answers, b"loaded")
    store: Store | None = None
    while True:
        task = questions.get()
        try:
            if store is None:
                store = Store.open(url)
            answer = True, _answer(task, store)
        except TidingsError as problem:
            answer = False, problem
        except Exception:  # a defect of ours: logged on standard error; the caller learns only that there was one
            traceback.print_exc()
            answer = False, NoAnswer()
        write_frame(answers, _pickled(answer))


def load() -> None:
    """What the questions need and is slow to load: an answer's time should not be spent on it."""
    import tidings.matching.explain
    import tidings.pipeline.batch.history  # noqa: F401


def _answer(task: bytes, store: Store) -> Any:
    question, args, named = pickle.loads(task)
    return question(store, *args, **named)


def _pickled(answer: tuple[bool, Any]) -> bytes:
    try:
        return pickle.dumps(answer)
    except Exception:
        traceback.print_exc()
        return pickle.dumps((False, NoAnswer()))


def _read(questions: SimpleQueue[bytes]) -> None:
    try:
        while True:
            questions.put(read_frame(partial(os.read, sys.stdin.fileno())))
    except (EOFError, OSError):
        os._exit(0)


if __name__ == "__main__":
    main()
