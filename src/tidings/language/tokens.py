"""A filter's text cut into tokens: three parallel lists, so that the parser touches no object per token."""

from __future__ import annotations

import re
from typing import NamedTuple

from tidings.language.errors import FilterTooLong, UnexpectedToken, UnterminatedText
from tidings.language.predicates import FORMS

LONGEST_FILTER = 262_144

_RESERVED = ("and", "or", "not", "any", "all", "xpath", "above")
# These open a predicate, but are names everywhere else: attributes may have been called so before.
_SOFT = frozenset(("near", "inside", "cesql", "cloudevents", "checked", "translated"))
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
_KINDS = ("", *_TOKEN.groupindex)
_NAME, _END = _KINDS.index("name"), _KINDS.index("end")


class Tokens(NamedTuple):
    """Kinds (name, operator, number, text, quoted, mark, keyword, end), what was written, and where."""

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
    for found in _TOKEN.finditer(text):
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
    return Tokens(kinds, written, offsets)


def _illegal(text: str, position: int) -> UnexpectedToken | UnterminatedText:
    character = text[position]
    if character in "'\"":
        return UnterminatedText(text, position, character)
    return UnexpectedToken(text, position, repr(character), "an attribute, a value or an operator")
