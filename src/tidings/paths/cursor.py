"""The parser's place in a path's tokens, and the refusal of what XPath has and the subset has not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn, get_args

from tidings.paths.errors import PathSyntax, PathTooLarge, UnsupportedPath
from tidings.paths.refusals import AXES, refused_function
from tidings.paths.tokens import Token, tokenize
from tidings.paths.tree import Operator

LARGEST = 64  # steps and comparisons in total
_OPERATORS = get_args(Operator)


class PathCursor:
    def __init__(self, text: str, prefixes: Mapping[str, str]) -> None:
        self.text, self.prefixes = text, prefixes
        self.tokens = tokenize(text)
        self.next = 0
        self.size = 0  # steps and comparisons so far
        self.depth = 0  # of tests
        self.parentheses = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.next]

    def at(self, mark: str, ahead: int = 0) -> bool:
        token = self.tokens[min(self.next + ahead, len(self.tokens) - 1)]
        return token.kind == "mark" and token.written == mark

    def take(self, mark: str) -> bool:
        found = self.at(mark)
        self.next += found
        return found

    def need(self, mark: str) -> None:
        if not self.take(mark):
            self.unexpected(repr(mark))

    def unexpected(self, wanted: str) -> NoReturn:
        token = self.token
        if token.kind == "mark" and token.written in ("+", "-", "*"):
            self.unsupported("arithmetic", "compare with a number")
        if token.kind == "name" and token.written in ("div", "mod"):
            self.unsupported("arithmetic", "compare with a number")
        if self.at("|"):
            self.unsupported("a union '|'", "write one filter for each path and join them by 'or'")
        if self.at("$"):
            self.unsupported("a variable", "write its value")
        found = "the end of the path" if token.kind == "end" else repr(token.written)
        raise PathSyntax(self.text, token.offset, found, wanted)

    def unsupported(self, construct: str, instead: str = "") -> NoReturn:
        raise UnsupportedPath(self.text, self.token.offset, construct, instead)

    def count(self, offset: int) -> None:
        self.size += 1
        if self.size > LARGEST:
            raise PathTooLarge(self.text, offset, "steps and comparisons in total", LARGEST)

    def refuse_beginning(self) -> NoReturn:
        token = self.token
        follows = self.tokens[self.next + 1] if token.kind != "end" else token
        if token.kind == "name" and follows.written == "(" and follows.kind == "mark":
            self.refuse_function()
        if token.kind == "name" and follows.written == "::" and follows.kind == "mark":
            self.refuse_axis()
        if token.kind in ("number", "text"):
            self.unsupported("an expression that is not a path", "write a path with a test, such as //price[. < 3]")
        if self.at("(") or self.at("-"):
            self.unsupported("an expression that is not a path", "write the path alone")
        if self.at("$"):
            self.unsupported("a variable", "write its value")
        if self.at(".") or self.at("..") or self.at("@") or self.at("*") or token.kind == "name":
            self.unsupported("a relative path", "begin with '/' for the root element or '//' for any")
        self.unexpected("a path that begins with '/' or '//'")

    def refuse_operator(self) -> None:
        if any(self.at(operator) for operator in _OPERATORS) or (
            self.token.kind == "name" and self.token.written in ("and", "or")
        ):
            self.unsupported("an expression that is not a path", "put the comparison into a test: //price[. < 3]")

    def refuse_axis(self) -> NoReturn:
        axis = self.token.written
        self.unsupported(f"the axis '{axis}::'", AXES.get(axis, ""))

    def refuse_function(self) -> NoReturn:
        self.unsupported(*refused_function(self.token.written))

    def refuse_literal(self) -> NoReturn:
        ahead = self.next + 1 + self.at("-")
        following = self.tokens[min(ahead, len(self.tokens) - 1)].written
        if following in _OPERATORS:
            self.unsupported("a comparison that begins with a literal", "write the path first: [@a = 'x']")
        if self.token.kind == "text":
            self.unsupported("a text as a test", "compare it with a path: [. = 'x']")
        self.unsupported("a position", "select by content: [@id = 'x']")

    def operator_next(self) -> bool:
        return any(self.at(operator) for operator in _OPERATORS)
