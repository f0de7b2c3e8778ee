"""Text to tree: a hand-written recursive descent, one function per line of the grammar.

filter     = any_of end
any_of     = all_of { "or" all_of }
all_of     = unary { "and" unary }
unary      = "not" unary | "(" any_of ")" | predicate
predicate  = name ( operator operand | "exists" | [ "not" ] relation )
relation   = "in" "(" operand { "," operand } ")" | "between" operand "and" operand | "under" operand
           | "contains" ( operand | ( "any" | "all" ) text )
"""

from __future__ import annotations

import math
from typing import Literal, NoReturn

from tidings.language.errors import NestedTooDeeply, NotYetSupported, UnclearWords, UnexpectedToken
from tidings.language.tokens import tokenize
from tidings.language.tree import (
    Between,
    Comparison,
    Contains,
    ContainsWords,
    Exists,
    In,
    Name,
    Node,
    Not,
    Operand,
    Word,
    both,
    either,
)
from tidings.language.words import words_of

DEEPEST = 100

_OPERATORS = frozenset(("=", "!=", "<", "<=", ">", ">="))
_MEANT = {"==": "'='", "<>": "'!='"}
_AFTER_NAME = "an operator (= != < <= > >= in between contains under exists)"


def parse(text: str) -> Node:
    """The tree of a filter's text; raises LanguageError at the first place that is wrong."""
    return _Parser(text).filter()


class _Parser:
    __slots__ = ("depth", "kinds", "next", "offsets", "text", "written")

    def __init__(self, text: str) -> None:
        self.text = text
        self.kinds, self.written, self.offsets = tokenize(text)
        self.next = 0
        self.depth = 0

    def filter(self) -> Node:
        tree = self.any_of()
        if self.kinds[self.next] != "end":
            self.unexpected("'and', 'or' or the end of the filter")
        return tree

    def any_of(self) -> Node:
        first = self.all_of()
        if self.written[self.next] != "or" or self.kinds[self.next] != "keyword":
            return first
        terms = [first]
        while self.keyword("or"):
            terms.append(self.all_of())
        return either(terms)

    def all_of(self) -> Node:
        first = self.unary()
        terms = [first]
        while self.keyword("and"):
            terms.append(self.unary())
        return first if len(terms) == 1 else both(terms)

    def unary(self) -> Node:
        kind = self.kinds[self.next]
        if kind == "name" or kind == "quoted":
            return self.predicate()
        term: Node
        if self.keyword("not"):
            self.descend()
            # `not (` is one level: so the canonical text, where it stands, is never deeper than what was read
            term = Not(self.group() if self.at_mark("(") else self.unary())
        elif self.at_mark("("):
            self.descend()
            term = self.group()
        else:
            if kind == "keyword" and self.written[self.next] == "xpath":
                raise NotYetSupported(self.text, self.offsets[self.next], "'xpath'")
            self.unexpected("an attribute, 'not' or '('")
        self.depth -= 1
        return term

    def group(self) -> Node:
        self.next += 1
        inner = self.any_of()
        self.mark(")", "'and', 'or' or ')'")
        return inner

    def descend(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise NestedTooDeeply(self.text, self.offsets[self.next], DEEPEST)

    def predicate(self) -> Node:
        at = self.offsets[self.next]
        attribute = self.name()
        kind, written = self.kinds[self.next], self.written[self.next]
        if kind == "operator":
            if written not in _OPERATORS:
                self.wrong_operator(written)
            self.next += 1
            return Comparison(attribute, written, self.operand(), at)
        if kind == "keyword":
            if written == "not":
                self.next += 1
                return Not(self.relation(attribute, at, "'in', 'between', 'contains' or 'under'"))
            if written == "exists":
                self.next += 1
                return Exists(attribute, at)
            return self.relation(attribute, at, _AFTER_NAME)
        self.unexpected(_AFTER_NAME)

    def relation(self, attribute: str, at: int, expected: str) -> Node:
        if self.keyword("in"):
            self.mark("(", "'('")
            values = [self.operand()]
            while self.at_mark(","):
                self.next += 1
                values.append(self.operand())
            self.mark(")", "',' or ')'")
            return In(attribute, tuple(dict.fromkeys(values)), at)
        if self.keyword("between"):
            low = self.operand()
            if not self.keyword("and"):
                self.unexpected("'and'")
            return Between(attribute, low, self.operand(), at)
        if self.keyword("contains"):
            return self.contains(attribute, at)
        if self.keyword("under"):
            return Comparison(attribute, "under", self.operand(), at)
        if self.kinds[self.next] == "keyword" and self.written[self.next] == "xpath":
            raise NotYetSupported(self.text, self.offsets[self.next], "'xpath'")
        self.unexpected(expected)

    def contains(self, attribute: str, at: int) -> Node:
        if self.at_mark("("):
            raise NotYetSupported(self.text, self.offsets[self.next], "a word pattern in parentheses")
        quantifier: Literal["any", "all"]
        if self.keyword("any"):
            quantifier = "any"
        elif self.keyword("all"):
            quantifier = "all"
        else:
            return Contains(attribute, self.operand(), at)
        place = self.offsets[self.next]
        if self.kinds[self.next] != "text":
            self.unexpected(f"words in quotes after 'contains {quantifier}'")
        literal = self.operand()
        words = tuple(dict.fromkeys(words_of(str(literal))))
        if not words:
            raise UnclearWords(self.text, place, literal, words)
        # One word is any and all of them; the printer leaves the quantifier out only where binding chose it.
        return ContainsWords(attribute, quantifier if len(words) > 1 else "any", words, at)

    def operand(self) -> Operand:
        kind, written = self.kinds[self.next], self.written[self.next]
        at = self.offsets[self.next]
        if kind == "number":
            self.next += 1
            return self.numeral(written, at)
        if kind == "text":
            self.next += 1
            return written[1:-1].replace("''", "'")
        if kind == "name":
            self.next += 1
            return Word(written, at)
        if kind == "quoted":
            return Name(self.name(), at)
        self.unexpected("a value: a number, a text in single quotes or a name")

    def numeral(self, written: str, at: int) -> int | float:
        whole = written.isdigit() or (written[1:].isdigit() and written[0] in "+-")
        if whole and len(written) <= 15:
            return int(written)
        value = float(written)
        if math.isinf(value):
            raise UnexpectedToken(self.text, at, "a number beyond all bounds", "a number of at most 1.8e308")
        if whole and len(written) <= 400:  # longer ones are mostly leading zeros
            return int(written)
        return int(value) if value.is_integer() and abs(value) <= 2**53 else value

    def name(self) -> str:
        written = self.written[self.next]
        self.next += 1
        if self.kinds[self.next - 1] != "quoted":
            return written
        name = written[1:-1].replace('""', '"')
        if not name:
            self.next -= 1
            self.unexpected("a name between the double quotes")
        return name

    def keyword(self, word: str) -> bool:
        """Steps over the keyword if it is next."""
        if self.written[self.next] == word and self.kinds[self.next] == "keyword":
            self.next += 1
            return True
        return False

    def at_mark(self, mark: str) -> bool:
        return self.written[self.next] == mark and self.kinds[self.next] == "mark"

    def mark(self, mark: str, expected: str) -> None:
        if not self.at_mark(mark):
            self.unexpected(expected)
        self.next += 1

    def wrong_operator(self, written: str) -> NoReturn:
        if written == "~":
            raise NotYetSupported(self.text, self.offsets[self.next], "similarity ('~')")
        self.unexpected(_MEANT[written])

    def unexpected(self, expected: str) -> NoReturn:
        kind, written = self.kinds[self.next], self.written[self.next]
        found = "the end of the filter" if kind == "end" else repr(written[:60])
        if kind == "keyword":
            found = f"the keyword {found}"
            if expected.startswith("an attribute"):
                expected += f' (an attribute of that name is written "{written}")'
        raise UnexpectedToken(self.text, self.offsets[self.next], found, expected)
