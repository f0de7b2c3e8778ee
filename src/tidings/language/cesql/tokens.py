"""A CESQL text cut into tokens."""

from __future__ import annotations

import re
from typing import NamedTuple

from tidings.language.cesql.errors import ExpressionTooLong
from tidings.language.errors import UnexpectedToken, UnterminatedText

LONGEST = 16_384
KEYWORDS = frozenset(("AND", "OR", "XOR", "NOT", "LIKE", "EXISTS", "IN", "TRUE", "FALSE"))

_TEXT = r"""'(?:[^'\\]++|\\[\s\S])*+'|"(?:[^"\\]++|\\[\s\S])*+\""""
TEXT = re.compile(_TEXT)
_TOKEN = re.compile(
    rf"""[ \t\r\n]*+(?:
      (?P<number>[0-9]++(?![A-Za-z_]))
    | (?P<word>[A-Za-z0-9_]++)
    | (?P<text>{_TEXT})
    | (?P<sign><=|>=|<>|!=|[=<>+\-*/%(),])
    | (?P<end>\Z)
    | (?P<illegal>[\s\S])
    )""",
    re.VERBOSE,
)


class Token(NamedTuple):
    """`kind`: number, word, keyword (in upper case), text (as written), sign, end."""

    kind: str
    written: str
    at: int


def tokenize(text: str) -> list[Token]:
    """Raises LanguageError where a character begins no token."""
    if len(text) > LONGEST:
        raise ExpressionTooLong("", 0, "expression", len(text), LONGEST)
    tokens: list[Token] = []
    for found in _TOKEN.finditer(text):
        kind = str(found.lastgroup)
        written, at = found[kind], found.start(kind)
        if kind == "word" and written.upper() in KEYWORDS:
            kind, written = "keyword", written.upper()
        elif kind == "illegal":
            if written in "'\"":
                raise UnterminatedText(text, at, written)
            raise UnexpectedToken(text, at, repr(written), "an attribute, a literal or an operator")
        tokens.append(Token(kind, written, at))
        if kind == "end":
            break
    return tokens


def unquoted(written: str) -> str:
    r"""The text of a literal: `\'` inside `'…'` is a quote; every other backslash stays, since LIKE has its own."""
    quote = written[0]
    return written[1:-1].replace("\\" + quote, quote)
