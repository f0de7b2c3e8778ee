"""The headers of a request by their names, made once by the middleware: going through the list for each of eight
questions took 5 % of the time of a publish. Of a header that is repeated the last counts."""

from collections.abc import Mapping

from starlette.requests import Request
from starlette.types import Scope

Head = Mapping[bytes, bytes]
_HEAD = "tidings.head"  # in the scope


def make_head(scope: Scope) -> Head:
    head: Head = dict(scope["headers"])
    scope[_HEAD] = head
    return head


def head_of(request: Request) -> Head:
    head: Head = request.scope[_HEAD]
    return head
