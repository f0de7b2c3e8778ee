"""Subscriptions from and to files: bytes as numbered lines or items of an array, and an account's as lines of JSON."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import msgspec

from tidings.errors import Explained, ServiceError
from tidings.service.actions.subscription_import import MOST_LINES, NumberedLine
from tidings.service.actions.subscription_lines import SubscriptionLine, exported
from tidings.service.api.channels.channel_shapes import settings_seen
from tidings.service.api.shapes import RAW_ITEMS, WrongBody, decoded
from tidings.service.gateway import Gateway

_AT_ONCE = 1_000  # subscriptions that an export reads together
_BOM = b"\xef\xbb\xbf"
_encode = msgspec.json.Encoder().encode


class TooManySubscriptions(Explained, ServiceError):
    template = f"a request imports at most {MOST_LINES:,} subscriptions; send the rest in further requests"


async def export_lines(gateway: Gateway, owner: str) -> AsyncIterator[bytes]:
    """Some lines at a time."""
    after = ""
    while found := await gateway.read(gateway.store.subscriptions, owner, after, _AT_ONCE):
        sent = [one.id for one in found if one.delivery]
        channels = await gateway.read(gateway.store.channels_of, owner, sent) if sent else {}
        yield b"".join(_encode(exported(one, settings_seen(channels.get(one.id)))) + b"\n" for one in found)
        after = found[-1].id


def read_lines(body: bytes) -> list[NumberedLine]:
    """Numbered, without those that are blank. Raises TooManySubscriptions."""
    found = enumerate(body.removeprefix(_BOM).split(b"\n"), 1)
    return _read([(number, line) for number, line in found if line and not line.isspace()])


def read_items(body: bytes) -> list[NumberedLine]:
    """Raises WrongBody or TooManySubscriptions."""
    return _read([(number, bytes(item)) for number, item in enumerate(decoded(body, RAW_ITEMS), 1)])


def _read(lines: Sequence[tuple[int, bytes]]) -> list[NumberedLine]:
    if len(lines) > MOST_LINES:
        raise TooManySubscriptions
    return [(number, _line(text)) for number, text in lines]


def _line(text: bytes) -> SubscriptionLine | WrongBody:
    try:
        return decoded(text, SubscriptionLine)
    except WrongBody as problem:
        return problem.with_traceback(None)
