"""`tidings feed infer --interactive`: field by field, what was seen, the guess, and what you say to it.

Answers come from standard input, typed or piped; where it ends, the remaining guesses are accepted."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from tidings.cli.terminal import counted, messages, plain
from tidings.errors import TidingsError

if TYPE_CHECKING:
    from tidings.feeds import Mapping, Proposal
    from tidings.feeds.inference.source_records import SourceRecords
    from tidings.feeds.mapping.mapping import Field
    from tidings.schema import Catalog

SHOWN = 20  # records on which each answer is tried
_EXAMPLES = 5
_HELP = """Enter accepts the guess. Or type one or more of
  skip                     leave the field out
  name=NAME                another name for the attribute
  kind=KIND                numeric, string, enumerated, hierarchical, text, time or place
  unit=€ decimal=,         for numbers
  time_format=%d.%m.%Y     for times; also zone=Europe/Athens
  on_bad=refuse|missing    what a bad value does
  mandatory several grow   yes unless you add =no
  and split, pattern, missing, parent, path, lower, domain as in a mapping; quote blanks: missing="not known"
  rest                     accept this guess and all others"""


class Interview:
    """One mapping, talked over; `there` is the schema whose names it must respect."""

    def __init__(self, proposal: Proposal, records: SourceRecords, there: Catalog) -> None:
        self._proposal = proposal
        self._mapping = proposal.mapping
        self._all, self._records = records, list(islice(records, SHOWN))
        self._there = there
        self._ended = False

    def held(self) -> Mapping:
        """The mapping as it was agreed on. Raises SchemaClash where a clash is left and there are no more answers."""
        say(f"{counted(len(self._mapping.fields), 'field')}; ? explains the answers")
        self._ask_whole("event type", "event_type", list(self._mapping.event_types))
        self._ask_whole("id, or - for a digest of the record", "id", list(self._mapping.id))
        for number, one in enumerate(self._mapping.fields, 1):
            self._ask_about(one, f"[{number}/{len(self._proposal.mapping.fields)}]")
        self._ask_when()
        return self._mapping

    def _ask_when(self) -> None:
        from tidings.feeds.inference.corrections import happening, times

        if self._mapping.time is not None or not times(self._mapping):
            return
        say(f"\ntimes: {', '.join(times(self._mapping))}")
        while (answer := self._answer("which says when the event happened [-]: ")) not in ("", "-"):
            try:
                self._mapping = happening(self._mapping, answer)
                return
            except TidingsError as problem:
                say(str(problem))

    def _ask_whole(self, label: str, key: str, guess: list[str]) -> None:
        from tidings.feeds.inference.corrections import whole
        from tidings.feeds.inference.ids import tell_apart

        while True:
            answer = self._answer(f"{label} [{', '.join(guess) or '-'}]: ")
            if not answer:
                return
            named = [] if answer == "-" else [one.strip() for one in answer.split(",")]
            try:
                mapping = whole(self._mapping, **{key: named})
                if key == "id" and mapping.id and not tell_apart(mapping.id, self._all.of(mapping.paths)):
                    say(f"{answer!r} is missing in some records or not unique")
                    continue
                self._mapping = mapping
                return
            except TidingsError as problem:
                say(str(problem))

    def _ask_about(self, guess: Field, number: str) -> None:
        """Until it is accepted, which a name that means something else in the schema cannot be."""
        from tidings.feeds.event_maker import kind_of
        from tidings.feeds.inference.corrections import corrected

        name = guess.attribute
        if self._ended:
            kind_of(guess, self._there)
            return
        say(f"\n{number} {name}, from {where(guess)}")
        say(f"  {self._proposal.seen[name]}")
        while True:
            field = next(one for one in self._mapping.fields if one.attribute == name)
            self._show_effect(name)
            answer = self._answer(f"  {described(field)}: ")
            try:
                if answer == "?":
                    say(_HELP)
                elif answer in ("", "rest"):
                    kind_of(field, self._there)
                    self._ended = self._ended or answer == "rest"
                    return
                else:
                    changes = _changes(answer, name)
                    self._mapping = corrected(self._mapping, name, changes)
                    if changes.get("skip"):
                        return
                    name = changes.get("name") or name
            except TidingsError as problem:
                if self._ended:
                    raise
                say(f"  {problem}")
            except ValueError as problem:
                say(f"  {problem}")

    def _show_effect(self, name: str) -> None:
        from tidings.feeds.inference.corrections import effect

        seen = effect(self._mapping, name, self._records)
        examples = ", ".join(dict.fromkeys(seen.values))[:200] or "none"
        without = seen.records - len(seen.values)
        say(f"  in {counted(seen.records, 'record')}: {examples}; {without:,} without, {len(seen.wrong):,} bad")
        for line in seen.wrong[:_EXAMPLES]:
            say(f"    {line}")

    def _answer(self, question: str) -> str:
        if self._ended:
            return ""
        messages.print(plain(question), end="", highlight=False)
        line = sys.stdin.readline()
        if not line:
            self._ended = True
            say("\nno more answers: the other guesses are accepted")
        elif not sys.stdin.isatty():
            say(line.rstrip("\n"))  # as if it had been typed
        return line.strip()


def interviewed(proposal: Proposal, records: SourceRecords, there: Catalog) -> Proposal:
    """The proposal as it was agreed on, with its effect on the first records shown. Raises FeedError."""
    from tidings.feeds import propose
    from tidings.feeds.preview import previewed

    mapping = Interview(proposal, records, there).held()
    records = records.of(mapping.paths)
    agreed = propose(mapping, records, there)
    say("")
    for one in previewed(mapping, islice(records, SHOWN), agreed.catalog):
        say(json.dumps(one))
    guessed = {one.attribute for one in proposal.mapping.fields if one in agreed.mapping.fields}
    return replace(agreed, seen={name: (proposal if name in guessed else agreed).seen[name] for name in agreed.seen})


def where(field: Field) -> str:
    if field.longitude:
        return f"{field.reading.path!r} and {field.longitude!r}"
    return repr(field.reading.path or field.reading.constant)


def described(field: Field) -> str:
    """`numeric, unit €, optional`"""
    words = [str(field.kind)]
    words += [f"{name} {' or '.join(said)}" for name, said in (("unit", field.reading.unit),) if said]
    words += [f"time format {' or '.join(field.reading.time_format)}"] if field.reading.time_format else []
    words += [f"split at {field.reading.split!r}"] if field.reading.split else []
    words += [word for word, given in (("several", field.several), ("grows", field.grow)) if given]
    words.append("mandatory" if field.mandatory else "optional")
    return ", ".join(words)


def _changes(answer: str, name: str) -> dict[str, Any]:
    """Raises WrongMapping, or ValueError where a quote is not closed."""
    from tidings.feeds.inference.corrections import typed

    given: dict[str, list[str]] = {}
    for word in shlex.split(answer):
        key, _, value = word.partition("=")
        given.setdefault(key, []).append(value)
    return {key: typed(key, texts, name) for key, texts in given.items()}


def say(line: str) -> None:
    messages.print(plain(line), highlight=False)
