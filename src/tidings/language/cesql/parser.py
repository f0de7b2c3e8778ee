"""CESQL text to steps, by precedence climbing: only parentheses, sets and arguments nest, and these have a limit.

expression = operand { operator operand }      from tight to loose: * / %, + -, comparisons, AND OR XOR; left to right
operand    = { "NOT" | "-" } primary { [ "NOT" ] "LIKE" text | [ "NOT" ] "IN" "(" expression { "," expression } ")" }
primary    = literal | name | "EXISTS" name | name "(" [ expression { "," expression } ] ")" | "(" expression ")"
"""

from __future__ import annotations

from typing import NoReturn

from tidings.language.cesql.errors import IntegerTooLarge
from tidings.language.cesql.expression import (
    Binary,
    Call,
    ContextAttribute,
    Expression,
    HasAttribute,
    IsAmong,
    Literal,
    MatchesPattern,
    Step,
    Unary,
)
from tidings.language.cesql.patterns import like_pattern
from tidings.language.cesql.tokens import Token, tokenize, unquoted
from tidings.language.errors import NestedTooDeeply, SegmentTooLong, UnexpectedToken
from tidings.language.like import LONGEST_SOUGHT

DEEPEST = 100
LEAST, GREATEST = -(2**31), 2**31 - 1
PRECEDENCE = {
    **dict.fromkeys(("AND", "OR", "XOR"), 1),
    **dict.fromkeys(("=", "!=", "<>", "<", "<=", ">", ">="), 2),
    **dict.fromkeys(("+", "-"), 3),
    **dict.fromkeys(("*", "/", "%"), 4),
}


def parse_cesql(text: str) -> Expression:
    """Raises LanguageError at the first place that is wrong."""
    return Expression(text, _Parser(text).expression())


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokenize(text)
        self._next = 0
        self._depth = 0
        self._steps: list[Step] = []

    def expression(self) -> tuple[Step, ...]:
        self._expression()
        if self._token.kind != "end":
            self._unexpected("an operator or the end of the expression")
        return tuple(self._steps)

    @property
    def _token(self) -> Token:
        return self._tokens[self._next]

    def _expression(self) -> None:
        """Operators wait on a stack until one comes that binds no tighter."""
        waiting: list[Token] = []
        self._operand()
        while (token := self._token).written in PRECEDENCE and token.kind in ("sign", "keyword"):
            while waiting and PRECEDENCE[waiting[-1].written] >= PRECEDENCE[token.written]:
                self._emit(waiting.pop())
            waiting.append(token)
            self._next += 1
            self._operand()
        while waiting:
            self._emit(waiting.pop())

    def _emit(self, operator: Token) -> None:
        self._steps.append(Binary("!=" if operator.written == "<>" else operator.written, operator.at))

    def _operand(self) -> None:
        prefixes: list[Token] = []
        while self._is("NOT") or (self._is("-") and not self._number_follows()):
            prefixes.append(self._token)
            self._next += 1
        self._primary()
        for prefix in reversed(prefixes):
            self._steps.append(Unary(prefix.written, prefix.at))
        while self._is("LIKE") or self._is("IN") or self._is("NOT"):
            self._relation()

    def _relation(self) -> None:
        at = self._token.at
        negated = self._take("NOT")
        if self._take("LIKE"):
            if self._token.kind != "text":
                self._unexpected("a pattern in quotes")
            pattern = unquoted(self._token.written)
            if (length := like_pattern(pattern).longest_sought) > LONGEST_SOUGHT:
                raise SegmentTooLong(self._text, self._token.at, length, LONGEST_SOUGHT)
            self._steps.append(MatchesPattern(pattern, negated, at))
            self._next += 1
        elif self._take("IN"):
            self._steps.append(IsAmong(self._listed(least=1), negated, at))
        else:
            self._unexpected("LIKE or IN after NOT")

    def _primary(self) -> None:
        kind, written, at = self._token
        if kind == "number" or (written in ("+", "-") and self._number_follows()):
            self._integer()
            return
        self._next += 1
        if kind == "text":
            self._steps.append(Literal(unquoted(written), at))
        elif written in ("TRUE", "FALSE") and kind == "keyword":
            self._steps.append(Literal(written == "TRUE", at))
        elif written == "EXISTS" and kind == "keyword":
            self._steps.append(HasAttribute(self._name(), at))
        elif written == "(" and kind == "sign":
            self._next -= 1
            self._listed(least=1, most=1)
        elif kind == "word" and self._is("("):
            self._steps.append(Call(written.upper(), self._listed(), at))
        elif kind == "word":
            self._steps.append(ContextAttribute(written.lower(), at))
        else:
            self._next -= 1
            self._unexpected("an attribute, a literal, a function or '('")

    def _listed(self, least: int = 0, most: int | None = None) -> int:
        """Expressions in parentheses; how many."""
        opening = self._token
        if not self._take("("):
            self._unexpected("'('")
        self._depth += 1
        if self._depth > DEEPEST:
            raise NestedTooDeeply(self._text, opening.at, DEEPEST)
        count = 0
        if least or not self._is(")"):
            self._expression()
            count = 1
            while count != most and self._take(","):
                self._expression()
                count += 1
        if not self._take(")"):
            self._unexpected("an operator or ')'" if most == 1 else "an operator, ',' or ')'")
        self._depth -= 1
        return count

    def _integer(self) -> None:
        at, sign = self._token.at, ""
        if self._token.kind == "sign":
            sign = self._token.written
            self._next += 1
        digits = self._token.written
        value = int(sign + digits) if len(digits.lstrip("0")) <= 10 else 2**32
        if not LEAST <= value <= GREATEST:
            raise IntegerTooLarge(self._text, at, sign + digits[:60])
        self._steps.append(Literal(value, at))
        self._next += 1

    def _name(self) -> str:
        if self._token.kind != "word":
            self._unexpected("an attribute after EXISTS")
        self._next += 1
        return self._tokens[self._next - 1].written.lower()

    def _number_follows(self) -> bool:
        """Whether a sign belongs to a number: nothing is between them."""
        after = self._tokens[min(self._next + 1, len(self._tokens) - 1)]
        return after.kind == "number" and after.at == self._token.at + 1

    def _is(self, written: str) -> bool:
        return self._token.written == written and self._token.kind in ("sign", "keyword")

    def _take(self, written: str) -> bool:
        found = self._is(written)
        self._next += found
        return found

    def _unexpected(self, expected: str) -> NoReturn:
        kind, written, at = self._token
        found = "the end of the expression" if kind == "end" else repr(written[:60])
        raise UnexpectedToken(self._text, at, found, expected)
