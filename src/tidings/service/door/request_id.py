"""The id of a request: in its answer, in problem bodies and in every line of the log that it causes.

A caller may send its own by `X-Request-Id`, so that one id leads through the logs of several services.
"""

from __future__ import annotations

import re
from itertools import count
from secrets import token_hex

from starlette.types import Scope

from tidings.service.door.head import Head

HEADER = b"x-request-id"
_WELL_FORMED = re.compile(rb"[A-Za-z0-9._~+/=:-]{1,128}")
# Random once for each process, then counted: a random number for each request was 12 % of the time in which the event
# loop takes one event (tests/service/measure.py), and nobody gains by guessing an id.
_new_id = map((token_hex(6) + "-{:x}").format, count(1)).__next__
_WITH_SECRETS = ("/confirm/", "/unsubscribe/")  # the rest of such a path is a secret that lets anyone act


def request_id(head: Head) -> str:
    """The caller's where it is well-formed, else a new one."""
    sent = head.get(HEADER)
    return sent.decode("ascii") if sent is not None and _WELL_FORMED.fullmatch(sent) else _new_id()


def logged_path(scope: Scope) -> str:
    """The path as the log may show it: without secrets. The log escapes it."""
    path: str = scope["path"]
    for prefix in _WITH_SECRETS:
        if prefix in path:
            return f"{path.partition(prefix)[0]}{prefix}…"
    return path
