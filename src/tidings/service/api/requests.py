"""What every handler asks of a request: the gateway, who calls, a cursor, an answer's body.

The middleware has looked up the caller before any handler runs; here it is only handed on, or its error raised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar
from urllib.parse import urlencode

import msgspec
from fastapi import Depends, Header, Query, Request, Security
from fastapi.security import HTTPBearer
from starlette.responses import Response

from tidings.errors import Explained, ServiceError
from tidings.service.actions.accounts import Accounts
from tidings.service.actions.questions import Questions
from tidings.service.door.addresses import network_of
from tidings.service.door.callers import Caller
from tidings.service.door.scope_check import caller_of
from tidings.service.gateway import Gateway
from tidings.store import NoSuchSubscription
from tidings.store.journal.fitness import is_id

T = TypeVar("T")
V1 = "/v1"  # before the API's paths; pages, documents, links in mails, health and metrics have no version
SESSION = "tidings_session"  # the cookie
LARGEST_PAGE = 1_000
_LARGEST_CURSOR = 2**63 - 1

_bearer = HTTPBearer(auto_error=False, scheme_name="token", description="From POST /v1/accounts or POST /v1/tokens")
_encode = msgspec.json.Encoder().encode


class WrongCursor(Explained, ServiceError):
    cursor: str
    template = "{cursor!v} is not a cursor; send the 'next' of an earlier answer, or none"


async def gateway_of(request: Request) -> Gateway:
    gateway: Gateway = request.app.state.gateway
    return gateway


async def questions_of(request: Request) -> Questions:
    found: Questions = request.app.state.questions
    return found


def accounts_of(request: Request) -> Accounts:
    accounts: Accounts = request.app.state.accounts
    return accounts


def address_of(request: Request) -> str:
    """Of the sender, as limits count it; '' if the server does not know it."""
    return network_of(request.client.host) if request.client else ""


async def calling(request: Request, _: Annotated[object, Security(_bearer)] = None) -> Caller:
    """`caller_of` as a dependency, which also documents that a token is needed."""
    return caller_of(request)


def read_cursor(text: str | None) -> int:
    """Raises WrongCursor."""
    if not text:
        return 0
    if not text.isascii() or not text.isdecimal() or len(text) > 19 or int(text) > _LARGEST_CURSOR:
        raise WrongCursor(text)
    return int(text)


def check_id(id: str) -> None:
    """Raises NoSuchSubscription for what no database needs to be asked for, and not every one could be."""
    if not is_id(id):
        raise NoSuchSubscription(id)


def answered(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """JSON of anything that msgspec writes."""
    return Response(_encode(body), status, None if headers is None else dict(headers), "application/json")


def page(request: Request, items: Sequence[object], next: str | None, **more: object) -> Response:
    """A page of a list: `next` is the cursor for `after`, and the header Link has the whole address with it."""
    headers = None
    if next is not None:
        query = [(name, value) for name, value in request.query_params.multi_items() if name != "after"]
        headers = {"Link": f'<{request.url.path}?{urlencode([*query, ("after", next)])}>; rel="next"'}
    return answered({"items": items, "next": next, **more}, headers=headers)


def part_of(items: Sequence[T], after: str, limit: int) -> tuple[Sequence[T], str | None]:
    """Of a list that is read whole; a cursor is a place in it. Raises WrongCursor."""
    start = read_cursor(after)
    end = start + limit
    return items[start:end], str(end) if len(items) > end else None


GatewayOf = Annotated[Gateway, Depends(gateway_of)]
Calling = Annotated[Caller, Depends(calling)]
After = Annotated[str, Query(max_length=600, description="The `next` of the previous page")]
Limit = Annotated[int, Query(ge=1, le=LARGEST_PAGE, description="Maximum number of items")]
IfNoneMatch = Annotated[
    str, Header(alias="If-None-Match", description="The `ETag` of an earlier answer; 304 if nothing has changed")
]
