"""What came of `tidings match`: counts along the way, refused events, the last line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from tidings.cli.terminal import (
    counted,
    messages,
    progress,
    warn,
)
from tidings.errors import shown
from tidings.events import Refused
from tidings.pipeline.batch.match_lines import MatchOutput

_REFUSALS_SHOWN = 5


class MatchSummary:
    """What happened, counted along the way."""

    def __init__(self, subscriptions: int) -> None:
        self.subscriptions = subscriptions
        self.events = self.matches = self.detections = self.refused = self.duplicates = 0
        self.seconds = 0.0

    def count(self, answers: Iterator[MatchOutput]) -> Iterator[MatchOutput]:
        with progress() as bar:
            task = bar.add_task("matching", total=None)
            for answer in answers:
                yield answer
                self.matches += answer.matches
                self.events += answer.events
                self.refused += len(answer.refused)
                self.duplicates += answer.duplicates
                bar.update(task, description=f"{self.events:,} events, {self.matches:,} matches")

    def show(self, as_json: bool) -> None:
        if as_json:
            messages.print(msgspec.json.encode(vars(self)).decode(), markup=False)
            return
        parts = [
            counted(self.matches, "match", "matches"),
            counted(self.events, "event"),
            counted(self.subscriptions, "subscription"),
        ]
        if self.detections:
            parts.insert(1, counted(self.detections, "detection"))
        if self.refused:
            parts.append(f"{counted(self.refused, 'event')} refused")
        if self.duplicates:
            parts.append(f"{counted(self.duplicates, 'duplicate')} skipped")
        messages.print(f"{', '.join(parts)}, {self.seconds:.1f} s")


def report(refused: list[Refused], file: BinaryIO | None, summary: MatchSummary) -> None:
    for number, one in enumerate(refused, summary.refused):
        if file is not None:
            file.write(msgspec.json.encode(one.as_json()) + b"\n")
        elif number < _REFUSALS_SHOWN:
            problems = "; ".join(f"{error.rule}: {error.message}" for error in one.errors)
            event = "" if one.id is None else f"event {shown(one.id)} "
            warn(f"line {one.line}: {event}refused: {problems}")
        elif number == _REFUSALS_SHOWN:
            warn("more events were refused; --rejects FILE lists them all")
