"""A form that a browser sent: the values of its fields, in the order in which they stood on the page."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qsl

from starlette.requests import Request

from tidings.service.api.shapes import WrongBody, check_media_type
from tidings.service.pages.forms.csrf import PROOF, check_proof

_FORM = ("application/x-www-form-urlencoded",)
_MOST_FIELDS = 5_000


class Form:
    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self._pairs = pairs

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._pairs)

    def one(self, name: str) -> str:
        """The first value, '' where there is none; without the blanks around it."""
        return next((value.strip() for key, value in self._pairs if key == name), "")

    def exactly(self, name: str) -> str:
        """As it was typed: a password may begin with a blank."""
        return next((value for key, value in self._pairs if key == name), "")

    def all(self, name: str) -> list[str]:
        return [value.strip() for key, value in self._pairs if key == name]

    def filled(self, name: str) -> list[str]:
        return [value for value in self.all(name) if value]

    def replaced(self, name: str, value: str) -> Form:
        """The same with one field set."""
        return Form([*((key, old) for key, old in self._pairs if key != name), (name, value)])

    def has(self, name: str) -> bool:
        return any(key == name for key, _ in self._pairs)


async def read_form(request: Request) -> Form:
    """Raises WrongContentType, WrongBody, ForgedForm, StaleForm or LogInFirst."""
    form = await read_unproved(request)
    check_proof(request, form.one(PROOF))
    return form


async def read_unproved(request: Request) -> Form:
    """The sender. Raises WrongContentType or WrongBody."""
    check_media_type(request, _FORM)
    body = await request.body()  # the middleware bounds it
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except ValueError:  # UnicodeDecodeError is one
        raise WrongBody("this is not a form of this service") from None
    if any("\0" in name or "\0" in value for name, value in pairs):
        raise WrongBody("a field contains a zero character")
    return Form([(name, value.replace("\r\n", "\n")) for name, value in pairs])
