"""Events that travel: their JSON, decoded and matched a whole page at a time, and only where somebody asks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Page:
    """Events that came together. What a selection says of one of them, it says of all at once."""

    __slots__ = ("_batch", "_batch_of", "contents", "masks", "payloads")

    def __init__(self, payloads: Sequence[str]) -> None:
        self.payloads = payloads
        self.contents = [Content(self, row) for row in range(len(payloads))]
        self.masks: dict[int, Any] = {}  # by selection: which rows match
        self._batch: Any = None
        self._batch_of: object = None

    def batch(self, decoder: Any) -> Any:
        """The events of this page, decoded; rows that are no events match nothing."""
        if self._batch_of is not decoder:
            self._batch, self._batch_of = decoder.decode(self.payloads), decoder
        return self._batch


class Content:
    """What is in one event."""

    __slots__ = ("page", "row")

    def __init__(self, page: Page, row: int) -> None:
        self.page, self.row = page, row

    @property
    def payload(self) -> str:
        return self.page.payloads[self.row]

    def __repr__(self) -> str:
        return f"Content({self.payload[:80]!r})"
