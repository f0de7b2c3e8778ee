"""Text to pattern: a recursive descent of its own, since words are not names.

pattern = all { "or" all }
all     = unary { "and" unary }
unary   = "not" unary | chain
chain   = operand { ( "<" "[" i "," j "]" | "near" "[" j "]" ) operand }
operand = word [ "*" | "~" ] | phrase | "(" pattern ")" | "at" "least" n "of" "(" pattern { "," pattern } ")"
"""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

from tidings.language.errors import (
    NestedTooDeeply,
    PatternTooLong,
    UnexpectedToken,
    WrongAtLeast,
    WrongGap,
    WrongOperand,
    WrongWord,
)
from tidings.language.patterns.tree import (
    DEEPEST,
    LONGEST_GAP,
    MOST_WORDS,
    AnyOf,
    AtLeast,
    Chain,
    Lacks,
    Link,
    Pattern,
    PatternWord,
    Phrase,
    all_of,
    any_of,
)
from tidings.language.words import words_of

KEYWORDS = frozenset(("and", "or", "not", "near"))

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<phrase>"(?:[^"]++|"")*+")
    | (?P<mark>[()\[\],<])
    | (?P<word>[^\s()\[\],<"*~]++[*~]?)
    | (?P<end>\Z)
    | (?P<illegal>.)
    )""",
    re.VERBOSE | re.DOTALL,
)
_MARKED = re.compile(r"([^*~]*)([*~]|\Z)")
_NEXT = "'and', 'or', '<[i,j]', 'near[j]' or ')'"


class _Token(NamedTuple):
    kind: str
    written: str
    at: int  # in the whole text


def parse_pattern(text: str, start: int, stop: int) -> Pattern:
    """The pattern in `text[start:stop]`, inside the parentheses; raises LanguageError."""
    return _Parser(text, start, stop).whole()


class _Parser:
    def __init__(self, text: str, start: int, stop: int) -> None:
        self.text = text
        self.tokens: list[_Token] = []
        for found in _TOKEN.finditer(text[start:stop]):
            kind = found.lastgroup or ""
            self.tokens.append(_Token(kind, found[kind], start + found.start(kind)))
            if kind == "illegal":
                self.next = len(self.tokens) - 1
                expected = "a word right before it" if found[kind] in "*~" else "a word, a phrase or '('"
                self.unexpected(expected)
            if kind == "end":
                break
        self.next = 0
        self.depth = 0
        self.words = 0

    def whole(self) -> Pattern:
        made = self.pattern()
        if self.tokens[self.next].kind != "end":
            self.unexpected(_NEXT)
        return made

    def pattern(self) -> Pattern:
        terms = [self.all()]
        while self.keyword("or"):
            terms.append(self.all())
        return any_of(terms)

    def all(self) -> Pattern:
        terms = [self.unary()]
        while self.keyword("and"):
            terms.append(self.unary())
        return all_of(terms)

    def unary(self) -> Pattern:
        if not self.keyword("not"):
            return self.chain()
        self.descend()
        made = Lacks(self.unary())
        self.depth -= 1
        return made

    def chain(self) -> Pattern:
        places = [self.tokens[self.next].at]
        operands, links = [self.operand()], []
        while (link := self.link()) is not None:
            links.append(link)
            places.append(self.tokens[self.next].at)
            operands.append(self.operand())
        if not links:
            return operands[0]
        for place, operand in zip(places, operands, strict=True):
            members = operand.terms if isinstance(operand, AnyOf) else (operand,)
            if not all(isinstance(member, PatternWord | Phrase) for member in members):
                raise WrongOperand(self.text, place)
        return Chain(tuple(operands), tuple(links))

    def link(self) -> Link | None:
        place = self.tokens[self.next].at
        if self.mark("<"):
            self.need("[", "'[', e.g. <[0,5]")
            least = self.number("how many words at least, e.g. <[0,5]")
            self.need(",", "',' and how many words at most, e.g. <[0,5]")
            most = self.number("how many words at most, e.g. <[0,5]")
        elif self.keyword("near"):
            self.need("[", "'[' and how many words at most, e.g. near[5]")
            least, most = 0, self.number("how many words at most, e.g. near[5]")
            self.need("]", "']'")
            if most > LONGEST_GAP:
                raise WrongGap(self.text, place, least, most, LONGEST_GAP)
            return Link("near", 0, most)
        else:
            return None
        self.need("]", "']'")
        if not least <= most <= LONGEST_GAP:
            raise WrongGap(self.text, place, least, most, LONGEST_GAP)
        return Link("<", least, most)

    def operand(self) -> Pattern:
        token = self.tokens[self.next]
        if self.mark("("):
            self.descend()
            made = self.pattern()
            self.need(")", _NEXT)
            self.depth -= 1
            return made
        if token.kind == "phrase":
            self.next += 1
            return self.phrase(token)
        if token.kind != "word" or token.written.lower() in KEYWORDS:
            self.unexpected("a word, a phrase in double quotes, 'not' or '('")
        if self.at_least():
            return self.some()
        self.next += 1
        form = token.written[-1] if token.written[-1] in "*~" else ""
        raw = token.written.removesuffix(form)
        words = words_of(raw)
        if len(words) != 1:
            raise WrongWord(self.text, token.at, raw, len(words))
        return self.count(words[0], form, token.at)

    def at_least(self) -> bool:
        """Whether `at least n of (` is next."""
        written = [token.written.lower() for token in self.tokens[self.next : self.next + 5]]
        return (
            len(written) == 5
            and (written[0], written[1], written[3], written[4]) == ("at", "least", "of", "(")
            and written[2].isascii()
            and written[2].isdigit()
        )

    def some(self) -> Pattern:
        count = int(self.tokens[self.next + 2].written[:9])
        place = self.tokens[self.next + 2].at
        self.next += 5
        self.descend()
        terms = [self.pattern()]
        while self.mark(","):
            terms.append(self.pattern())
        self.need(")", "',' or ')'")
        self.depth -= 1
        if not 1 <= count <= len(terms):
            raise WrongAtLeast(self.text, place, count, len(terms))
        return AtLeast(count, tuple(terms))

    def phrase(self, token: _Token) -> Pattern:
        """Cut like text; a `*` or `~` belongs to the word right before it."""
        words: list[PatternWord] = []
        for piece, mark in _MARKED.findall(token.written[1:-1].replace('""', '"')):
            found = words_of(piece)
            words += [self.count(word, "", token.at) for word in found]
            if mark:
                if not found or not words_of(piece[-1:]):
                    raise UnexpectedToken(
                        self.text, token.at, repr(mark), f"a word right before {mark!r} in the phrase"
                    )
                words[-1] = PatternWord(words[-1].word, mark, token.at)
        if not words:
            raise WrongWord(self.text, token.at, token.written, 0)
        return words[0] if len(words) == 1 else Phrase(tuple(words))

    def count(self, word: str, form: str, at: int) -> PatternWord:
        self.words += 1
        if self.words > MOST_WORDS:
            raise PatternTooLong(self.text, at, MOST_WORDS)
        return PatternWord(word, form, at)  # type: ignore[arg-type]

    def descend(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise NestedTooDeeply(self.text, self.tokens[self.next].at, DEEPEST)

    def keyword(self, word: str) -> bool:
        token = self.tokens[self.next]
        found = token.kind == "word" and token.written.lower() == word
        self.next += found
        return found

    def mark(self, mark: str) -> bool:
        token = self.tokens[self.next]
        found = token.kind == "mark" and token.written == mark
        self.next += found
        return found

    def need(self, mark: str, expected: str) -> None:
        if not self.mark(mark):
            self.unexpected(expected)

    def number(self, expected: str) -> int:
        written = self.tokens[self.next].written
        if not (written.isascii() and written.isdigit()):
            self.unexpected(expected)
        self.next += 1
        return int(written[:9])

    def unexpected(self, expected: str) -> NoReturn:
        kind, written, at = self.tokens[self.next]
        found = "the end of the pattern" if kind == "end" else repr(written[:60])
        if written.lower() in KEYWORDS:
            found = f'the keyword {found} (to mean the word, write "{written}")'
        raise UnexpectedToken(self.text, at, found, expected)
