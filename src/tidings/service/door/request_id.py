"""The id of a request: in its answer, in problem bodies and in every line of the log that it causes.

A caller may send its own by `X-Request-Id`, so that one id leads through the logs of several services.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from secrets import token_hex

from starlette.types import Scope

HEADER = b"x-request-id"
_WELL_FORMED = re.compile(rb"[A-Za-z0-9._~+/=:-]{1,128}")
_WITH_SECRETS = ("/confirm/", "/unsubscribe/")  # whoever has the rest of such a path may do what it is for


def request_id(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The caller's where it is well-formed, else a new one."""
    for name, value in headers:
        if name == HEADER and _WELL_FORMED.fullmatch(value):
            return value.decode("ascii")
    return token_hex(8)


def logged_path(scope: Scope) -> str:
    """The path as the log may show it: without secrets. The log escapes it."""
    path: str = scope["path"]
    for prefix in _WITH_SECRETS:
        if prefix in path:
            return f"{path.partition(prefix)[0]}{prefix}…"
    return path
