"""How much work a call is, counted instead of timed: the same on any machine, however busy."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple


class Work(NamedTuple):
    steps: int  # bytecode instructions, of all Python functions that are called
    memory: int  # bytes, the most at any one time: arrays of all pairs would show here


def work_of(call: Callable[[], object]) -> Work:
    steps = 0

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal steps
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        steps += event == "opcode"
        return trace

    call()  # what is made once, such as caches, does not count
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    tracemalloc.start()
    try:
        call()
        _, memory = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return Work(steps, memory)
