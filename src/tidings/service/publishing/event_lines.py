"""Many events at once: which of them are valid, and a stream of lines from its first to its last.

Nothing waits for the end of a stream: whole lines are validated in a thread and appended while the next are read, and
a publisher who sends faster than the journal takes is held up by TCP. Sifting columns, as files are read, was refused:
turning the columns back into events costs more than they save (27 µs an event, one by one 21, by `QuickValidation` 9).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any

import msgspec

from tidings.events import BrokenRule, RefusedEvent, validate
from tidings.schema import Catalog
from tidings.service.actions.keys import EventIds
from tidings.service.actions.publish import give_id, too_large
from tidings.service.api.shapes import WrongBody, decoded
from tidings.service.door.repeated_keys import may_repeat
from tidings.service.gateway import Gateway
from tidings.service.publishing.batch_results import BatchResults, Sifted
from tidings.service.publishing.quick_validation import QuickValidation
from tidings.store import PublishValid

_BLOCK = 1 << 18  # bytes of lines that are appended together
_PATIENCE = 0.05  # seconds to wait for more before what is there is appended
_HINTED = 20  # refused events at once that get a suggestion: finding it takes longer than all the rest
_BOM = b"\xef\xbb\xbf"
_decode_lines = msgspec.json.Decoder().decode_lines


def sift(
    items: Iterable[Any],
    lines: Sequence[int],
    catalog: Catalog,
    most_values: int,
    read: Callable[[Any], dict[str, Any]] | None = None,
    id_of: Callable[[int], str] | None = None,
) -> Sifted:
    """Validates parsed events; what is an error already stays so. `read` makes a raw event of another form,
    `id_of` gives ids to those of the lines that have none."""
    sifted = Sifted(lines)
    evident = QuickValidation(catalog, most_values).event
    for line, item in zip(lines, items, strict=True):
        if type(item) is not dict and (isinstance(item, RefusedEvent) or sifted.is_full):
            sifted.refuse(line, item)
            continue
        try:
            raw = item if read is None else read(item)
            give_id(raw, None if id_of is None else id_of(line))
            event = evident(raw)
            if event is None:
                hints = len(sifted.refused) < _HINTED
                event = validate(raw, catalog, hints=hints, most_values=most_values)
            sifted.drafts.append(PublishValid(event))
            sifted.lines.append(line)
        except RefusedEvent as refused:
            sifted.refuse(line, refused)
    return sifted


class Pieces:
    """An asynchronous stream of bytes; `next` gives up when nothing comes for a while."""

    def __init__(self, stream: AsyncIterator[bytes]) -> None:
        self._stream = stream
        self._coming: asyncio.Future[bytes] | None = None

    async def next(self, seconds: float | None) -> bytes | None:
        """None when nothing has come in time; raises StopAsyncIteration at the end."""
        if self._coming is None:
            self._coming = asyncio.ensure_future(anext(self._stream))
        await asyncio.wait((self._coming,), timeout=seconds)
        if not self._coming.done():
            return None
        coming, self._coming = self._coming, None
        return coming.result()

    async def close(self) -> None:
        if self._coming is not None:
            self._coming.cancel()
            await asyncio.wait((self._coming,))


class _Lines:
    """Bytes in, blocks of whole lines out. A line longer than the limit is never kept."""

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._rest = bytearray()
        self._number = 1
        self._too_long = 0  # bytes so far of a line that is being passed over
        self.refused: list[tuple[int, RefusedEvent]] = []

    def feed(self, data: bytes) -> None:
        if self._number == 1 and not self._rest:
            data = data.removeprefix(_BOM)
        if self._too_long:
            end = data.find(b"\n")
            self._too_long += len(data) if end < 0 else end
            if end < 0:
                return
            self._pass_over()
            data = data[end + 1 :]
        self._rest += data
        if len(self._rest) > self._largest and b"\n" not in self._rest:
            self._too_long = len(self._rest)
            self._rest.clear()

    def __len__(self) -> int:
        return len(self._rest)

    def block(self, last: bool = False) -> tuple[int, bytes]:
        """The number of the first line, and the whole lines that are there; at the end the rest, too."""
        if last and self._too_long:
            self._pass_over()
        end = len(self._rest) if last else self._rest.rfind(b"\n") + 1
        block, first = bytes(self._rest[:end]), self._number
        del self._rest[:end]
        self._number += block.count(b"\n")
        return first, block

    def _pass_over(self) -> None:
        self.refused.append((self._number, too_large(self._too_long, self._largest)))
        self._number += 1
        self._too_long = 0


async def publish_stream(pieces: Pieces, gateway: Gateway, results: BatchResults, ids: EventIds | None = None) -> None:
    """Raises what the journal or the connection fails with; `results` then has what was done before."""
    largest = gateway.settings.largest_event
    lines = _Lines(largest)
    writing: asyncio.Task[None] | None = None

    async def write(sifted: Sifted) -> None:
        results.add(sifted, await gateway.append(sifted.drafts) if sifted.drafts else ())

    ended = False
    try:
        while not ended:
            try:
                data = await pieces.next(_PATIENCE if len(lines) else None)
                if data:
                    lines.feed(data)
            except StopAsyncIteration:
                data, ended = None, True
            if data is not None and len(lines) < _BLOCK and not lines.refused:
                continue
            first, block = lines.block(ended)
            passed_over, lines.refused = lines.refused, []
            if not block and not passed_over:
                continue
            sifted = await gateway.read(_sift_lines, first, block, largest, gateway, ids)
            sifted.numbers = [*(line for line, _ in passed_over), *sifted.numbers]
            sifted.refused |= dict(passed_over)
            if writing is not None:
                await writing
            writing = asyncio.create_task(write(sifted))
        if writing is not None:
            await writing
    finally:
        if writing is not None and not writing.done():
            await asyncio.wait((writing,))
        await pieces.close()


def _sift_lines(first: int, block: bytes, largest: int, gateway: Gateway, ids: EventIds | None) -> Sifted:
    """In a thread."""
    lines = block.split(b"\n")
    numbers = [first + place for place, line in enumerate(lines) if line and not line.isspace()]
    items: list[Any] | None = None
    if max(map(len, lines)) <= largest:
        try:
            items = _decode_lines(block)
            if may_repeat(block, items):
                items = None  # one by one, which finds the line
        except (msgspec.MsgspecError, ValueError, RecursionError):
            items = None  # some line is wrong: which one is found below
    found: Iterable[Any] = items or ()
    if items is None or len(items) != len(numbers):
        found = (_parsed(lines[number - first], largest) for number in numbers)
    id_of = None if ids is None else lambda number: ids.of(number, lines[number - first])
    return sift(found, numbers, gateway.store.catalog(), gateway.settings.values_per_attribute, id_of=id_of)


def _parsed(line: bytes, largest: int) -> Any:
    if len(line) > largest:
        return too_large(len(line), largest)
    try:
        return decoded(line, Any)
    except WrongBody as problem:
        return RefusedEvent(None, (BrokenRule("form", None, None, f"the line is not valid: {problem.args[0]}"),))
