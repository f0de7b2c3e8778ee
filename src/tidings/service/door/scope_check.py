"""Whether a caller may do what a route needs, by its scopes."""

from __future__ import annotations

from starlette.requests import Request

from tidings.errors import TidingsError
from tidings.service.door.callers import Caller, NoToken, OutOfScope
from tidings.service.door.scopes import LINK, NOTHING, TOKEN

CALLER = "tidings.caller"  # where the middleware leaves the caller, or the error, in an ASGI scope


def check_need(request: Request, need: str) -> None:
    """Raises UnknownToken, ForeignOrigin, NoToken or OutOfScope."""
    if need != NOTHING:
        allow(caller_of(request), need)


def allow(caller: Caller, need: str) -> None:
    """Raises NoToken or OutOfScope."""
    if need == TOKEN:
        if not caller.digest:
            raise NoToken
        if LINK in caller.scopes:
            raise OutOfScope("account", (LINK,))
    elif need != NOTHING:
        caller.need(need)


def caller_of(request: Request) -> Caller:
    """The owner of the token, or the guest; raises UnknownToken or ForeignOrigin."""
    found: Caller | TidingsError = request.scope[CALLER]
    if isinstance(found, TidingsError):
        raise found
    return found
