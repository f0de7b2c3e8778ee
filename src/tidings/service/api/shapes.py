"""Bodies of requests and answers: their shapes, once, for reading, writing and for the OpenAPI document.

A shape is a frozen msgspec struct. `read_body` makes one of a request's bytes; `takes` and `says` describe bodies
and answers for a route; `components` gives the schemas that these descriptions refer to.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from starlette.requests import Request

from tidings.errors import Explained, ServiceError, one_of, shown
from tidings.language.tokens import LONGEST_FILTER
from tidings.service.door.head import head_of
from tidings.service.door.in_flight import BodyTooLarge
from tidings.service.door.repeated_keys import may_repeat, repeated_key

if TYPE_CHECKING:
    from tidings.service.gateway import Gateway

T = TypeVar("T")
QUICK = 1 << 14  # bytes that are decoded and validated without leaving the event loop
_LARGEST_FILTER = 4 * LONGEST_FILTER  # bytes
_PLACE = "#/components/schemas/"
JSON = ("application/json",)
RAW_ITEMS = list[msgspec.Raw]


class Shape(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Of a request's or an answer's body; every member is in the OpenAPI document."""


class WrongContentType(Explained, ServiceError):
    """What was sent, and what is accepted here."""

    found: str
    accepted: tuple[str, ...]
    template = "{what}; send {expected}"

    @property
    def what(self) -> str:
        return f"the content type {self.found[:100]!r} is not accepted here" if self.found else "no content type"

    @property
    def expected(self) -> str:
        return one_of(self.accepted)


class WrongBody(Explained, ServiceError):
    """The body is not JSON, or not of the documented shape: what is wrong."""

    reason: str
    template = "invalid body: {reason}"


_shapes: dict[str, Any] = {}  # every type that a description refers to, by name


def media_type(request: Request) -> str:
    """Without its parameters, in lower case; raises WrongContentType where the text is not UTF-8."""
    said = head_of(request).get(b"content-type", b"")
    if said == b"application/json":
        return "application/json"
    kind, _, parameters = said.decode("latin-1").partition(";")
    for parameter in parameters.split(";"):
        name, _, value = parameter.strip().partition("=")
        if name.lower() == "charset" and value.strip("\"' ").lower() not in ("utf-8", "utf8", "us-ascii"):
            raise WrongContentType(said.decode("latin-1"), (f"{kind}; charset=utf-8",))
    return kind.strip().lower()


def check_media_type(request: Request, accepted: tuple[str, ...] = JSON) -> None:
    """Raises WrongContentType."""
    if media_type(request) not in accepted:
        raise WrongContentType(request.headers.get("content-type", ""), accepted)
    check_unpacked(request, accepted)


def check_unpacked(request: Request, accepted: tuple[str, ...]) -> None:
    """Raises WrongContentType: a small packed body may be a huge one."""
    packing = head_of(request).get(b"content-encoding", b"identity")
    if packing.lower() != b"identity":
        raise WrongContentType(f"content-encoding: {packing.decode('latin-1')}", accepted)


async def read_body(request: Request, shape: type[T]) -> T:
    """Raises WrongContentType, BodyTooLarge or WrongBody. None of these bodies has more than an event and a filter.

    A small one is decoded here, another in a thread: 14.5 MiB held up everybody for 2.5 s, in 974 MB of memory.
    """
    check_media_type(request)
    body = await request.body()
    if len(body) < QUICK:
        return decoded(body, shape)
    gateway: Gateway = request.app.state.gateway
    largest = gateway.settings.largest_event + _LARGEST_FILTER
    if len(body) > largest:
        raise BodyTooLarge(largest)
    return await gateway.read(decoded, body, shape)


def decoded(body: bytes | bytearray, shape: type[T]) -> T:
    """Raises WrongBody."""
    try:
        made = msgspec.json.decode(body, type=shape)
        if shape is not RAW_ITEMS:  # its parts are decoded one by one
            _refuse_repeated(body, made)
        return made
    except RecursionError:
        raise WrongBody("the JSON is nested too deeply") from None
    except UnicodeDecodeError as problem:
        raise WrongBody(f"it is not valid UTF-8: {problem.reason} at byte {problem.start}") from None
    except (msgspec.MsgspecError, ValueError) as problem:
        raise WrongBody(str(problem)) from None


def _refuse_repeated(body: bytes | bytearray, made: object) -> None:
    """Raises WrongBody where an object has a key twice."""
    value = made if type(made) in (dict, list) else msgspec.json.decode(body)
    if may_repeat(body, value if type(value) is list else (value,)) and (key := repeated_key(body)) is not None:
        raise WrongBody(f"the key {shown(key)} occurs twice in one object")


def takes(*shapes: Any, media: Iterable[str] = JSON, told: str = "", required: bool = True) -> dict[str, Any]:
    """`openapi_extra` of a route that reads such a body: one of the shapes."""
    content = {kind: {"schema": schema_of(*shapes)} for kind in media}
    body: dict[str, Any] = {"content": content, "required": required}
    return {"requestBody": body | ({"description": told} if told else {})}


def says(shape: Any, told: str, status: int = 200, media: str = "application/json") -> dict[int | str, dict[str, Any]]:
    """`responses` of a route that answers so."""
    return {status: {"description": told, "content": {media: {"schema": schema_of(shape)}}}}


def says_nothing(told: str, status: int = 204) -> dict[int | str, dict[str, Any]]:
    return {status: {"description": told}}


def schema_of(*shapes: Any) -> dict[str, Any]:
    """A schema in place of a shape: a hand-written one as it is, else by reference."""
    found = [shape if isinstance(shape, dict) else _referred(shape) for shape in shapes]
    return found[0] if len(found) == 1 else {"anyOf": found}


def schemas_of(*shapes: Any, place: str = _PLACE) -> dict[str, Any]:
    """The schemas of shapes and of all that they refer to, by name; `place` is where references find them."""
    _, found = msgspec.json.schema_components(shapes, ref_template=f"{place}{{name}}")
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]  # a copy that nobody else has


def components() -> dict[str, Any]:
    """The schemas of all shapes that were described."""
    return schemas_of(*_shapes.values())


def _referred(shape: Any) -> dict[str, Any]:
    (made,), _ = msgspec.json.schema_components([shape], ref_template=f"{_PLACE}{{name}}")
    _shapes[repr(shape)] = shape
    return dict(made)
