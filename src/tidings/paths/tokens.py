"""A path's text cut into tokens. Anything XPath 1.0 can say is a token, so that the parser can name what it refuses."""

from __future__ import annotations

import re
from typing import NamedTuple

from tidings.paths.errors import PathSyntax, PathTooLarge

LONGEST_PATH = 4_096  # characters

# Letters as `str.isalpha` knows them are close enough to XML's: the document's parser has the last word.
_NAME = r"[^\W\d][\w.\-·]*"
_TOKEN = re.compile(
    rf"""[ \t\r\n]*(?:
      (?P<name>{_NAME}(?::(?!:)(?:{_NAME}|\*))?)
    | (?P<number>\d+(?:\.\d*)?|\.\d+)
    | (?P<text>"[^"]*"|'[^']*')
    | (?P<mark>//|::|\.\.|!=|<=|>=|[/\[\]()@.,=<>*|+\-$])
    | (?P<end>\Z)
    )""",
    re.VERBOSE,
)


class Token(NamedTuple):
    kind: str  # name, number, text, mark or end
    written: str
    offset: int


def tokenize(text: str) -> list[Token]:
    """Always ends with an `end` token."""
    if len(text) > LONGEST_PATH:
        raise PathTooLarge(text[:100], 0, "characters", LONGEST_PATH)
    tokens: list[Token] = []
    place = 0
    while not tokens or tokens[-1].kind != "end":
        found = _TOKEN.match(text, place)
        if found is None:
            place += len(text[place:]) - len(text[place:].lstrip(" \t\r\n"))
            if text[place] in "\"'":
                raise PathSyntax(text, place, "a text without closing quote", f"a closing {text[place]}")
            raise PathSyntax(text, place, repr(text[place]), "a path")
        kind = found.lastgroup or ""
        tokens.append(Token(kind, found[kind], found.start(kind)))
        place = found.end()
    return tokens
