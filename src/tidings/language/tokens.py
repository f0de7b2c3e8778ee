"""A filter's text cut into tokens: three parallel lists, so that the parser touches no object per token."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NamedTuple

from tidings.language.errors import FilterTooLong, UnbalancedPattern, UnexpectedToken, UnterminatedText
from tidings.language.predicates import FORMS

LONGEST_FILTER = 262_144

_RESERVED = ("and", "or", "not", "any", "all", "xpath", "above")
# These open a predicate, but are names everywhere else: attributes may have been called so before.
_SOFT = frozenset(("near", "inside", "starts", "ends", "like", "cesql", "cloudevents", "checked", "translated"))
KEYWORDS = frozenset((*_RESERVED, *filter(str.isalpha, FORMS))) - _SOFT
NAME = re.compile(r"[^\W\d][\w.\-]*")

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<name>[^\W\d][\w.\-]*)
    | (?P<operator><=|>=|!=|<>|==|[=<>~])
    | (?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    | (?P<text>'(?:[^']++|'')*+')
    | (?P<quoted>"(?:[^"]++|"")*+")
    | (?P<mark>[(),:\[\]{}*+\-])
    | (?P<end>\Z)
    | (?P<illegal>.)
    )""",
    re.VERBOSE,
)
# `contains (` opens a pattern of words, unless a pair of numbers follows, which is a place.
_OPENING = re.compile(r"\s*\((?!\s*[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?\s*,)")
_PATTERN = re.compile(r"contains" + _OPENING.pattern, re.IGNORECASE)
_PART = re.compile(r'[^()"]++|"(?:[^"]++|"")*+"|[()"]')
_KINDS = ("", *_TOKEN.groupindex)
_NAME, _END = _KINDS.index("name"), _KINDS.index("end")


class Tokens(NamedTuple):
    """Kinds (name, operator, number, text, quoted, mark, keyword, pattern, end), what was written, and where."""

    kinds: list[str]
    written: list[str]
    offsets: list[int]


def tokenize(text: str) -> Tokens:
    """Raises LanguageError where a character begins no token."""
    if len(text) > LONGEST_FILTER:
        raise FilterTooLong("", 0, len(text), LONGEST_FILTER)
    kinds: list[str] = []
    written: list[str] = []
    offsets: list[int] = []
    patterns = _patterns(text) if "(" in text and _PATTERN.search(text) else []
    plain = text
    for start, stop in patterns:  # each is one token
        plain = plain[:start] + '""'.ljust(stop - start) + plain[stop:]
    for found in _TOKEN.finditer(plain):
        group = found.lastindex or 0
        token = found[group]
        offsets.append(found.start(group))
        if group == _NAME and (lowered := token.lower()) in KEYWORDS:
            kinds.append("keyword")
            written.append(lowered)
        else:
            kinds.append(_KINDS[group])
            written.append(token)
            if group >= _END:
                break
    if kinds[-1] == "illegal":
        raise _illegal(text, offsets[-1])
    for start, stop in patterns:
        place = bisect_left(offsets, start)
        kinds[place], written[place] = "pattern", text[start:stop]
    return Tokens(kinds, written, offsets)


def _patterns(text: str) -> list[tuple[int, int]]:
    """Where word patterns stand, parentheses included."""
    spans: list[tuple[int, int]] = []
    at = 0
    while (found := _TOKEN.match(text, at)) is not None and found.lastgroup not in ("end", "illegal"):
        at = found.end()
        if found.lastgroup == "name" and found["name"].lower() == "contains" and (opened := _OPENING.match(text, at)):
            start, at = opened.end() - 1, _end_of_pattern(text, opened.end() - 1)
            spans.append((start, at))
    return spans


def _end_of_pattern(text: str, start: int) -> int:
    depth = 0
    for part in _PART.finditer(text, start):
        depth += (part[0] == "(") - (part[0] == ")")
        if not depth:
            return part.end()
        if part[0] == '"':
            raise UnterminatedText(text, part.start(), '"')
    raise UnbalancedPattern(text, start)


def _illegal(text: str, position: int) -> UnexpectedToken | UnterminatedText:
    character = text[position]
    if character in "'\"":
        return UnterminatedText(text, position, character)
    return UnexpectedToken(text, position, repr(character), "an attribute, a value or an operator")
