"""A word pattern as a flat program for kernels: its distinct terms, and a shape that names them by place.

Patterns that differ only in their words have the same shape, so a table stores few shapes. A shape begins with the
number of its required terms, which come first among the terms, and the length of its body. The body leaves one truth
value: steps set it, jumps skip what can no longer change it. Jumps count from the beginning of the shape."""

from __future__ import annotations

from typing import NamedTuple, assert_never

from tidings.language.patterns.clauses import clauses_of
from tidings.language.patterns.tree import AllOf, AnyOf, AtLeast, Chain, Lacks, Pattern, PatternWord, Phrase, words_in
from tidings.language.stems import stem

HAS_TERM, HAS_PHRASE, HAS_CHAIN, NOT, IF_FALSE, IF_TRUE, CLEAR, TALLY, FALSE = range(9)
HEADER = 2  # the number of required terms, the length of the body

Shape = tuple[int, ...]


class Compiled(NamedTuple):
    """`clauses`: a value that satisfies the pattern has one term of each; if `exact`, also the other way round."""

    terms: tuple[str, ...]
    shape: Shape
    clauses: tuple[tuple[str, ...], ...]
    exact: bool

    @property
    def required(self) -> tuple[str, ...]:
        return self.terms[: self.shape[0]]


def compiled(pattern: Pattern, language: str | None) -> Compiled:
    clauses, exact = clauses_of(pattern)
    keys = tuple(tuple(dict.fromkeys(term_key(word, language) for word in clause)) for clause in clauses)
    required = list(dict.fromkeys(clause[0] for clause in keys if len(clause) == 1))
    terms = list(dict.fromkeys((*required, *(term_key(word, language) for word in words_in(pattern)))))
    body: list[int] = []
    if not exact or any(len(clause) > 1 for clause in keys):
        writer = _Writer(language, {term: place for place, term in enumerate(terms)})
        left = pattern
        if isinstance(pattern, AllOf):  # required words are tested first
            rest = tuple(term for term in pattern.terms if not isinstance(term, PatternWord))
            left = rest[0] if len(rest) == 1 else AllOf(rest)
        writer.write(left, 0)
        body = writer.steps
    return Compiled(tuple(terms), (len(required), len(body), *body), keys, exact)


def term_key(word: PatternWord, language: str | None) -> str:
    """The key of a word on an axis of terms: `=red`, `*re` or `~red`, the last with the stem."""
    match word.form:
        case "":
            return "=" + word.word
        case "*":
            return "*" + word.word
        case "~":
            assert language is not None
            return "~" + stem(word.word, language)
        case _:
            assert_never(word.form)


class _Writer:
    def __init__(self, language: str | None, places: dict[str, int]) -> None:
        self.language, self.places = language, places
        self.steps: list[int] = []

    def write(self, pattern: Pattern, slot: int) -> None:
        """Appends the steps of a pattern; `slot` is the first counter that it may use."""
        match pattern:
            case PatternWord():
                self.steps += [HAS_TERM, self._place(pattern)]
            case Phrase():
                self.steps += [HAS_PHRASE, *self._run(pattern)]
            case Chain(operands, links):
                self.steps += [HAS_CHAIN, len(operands), *self._group(operands[0])]
                for link, operand in zip(links, operands[1:], strict=True):
                    self.steps += [int(link.kind == "near"), link.least, link.most, *self._group(operand)]
            case Lacks(term):
                self.write(term, slot)
                self.steps.append(NOT)
            case AllOf(terms):
                self._joined(terms, IF_FALSE, slot)
            case AnyOf(terms):
                self._joined(terms, IF_TRUE, slot)
            case AtLeast(count, terms):
                self.steps += [CLEAR, slot]
                jumps = []
                for term in terms:
                    self.write(term, slot + 1)
                    self.steps += [TALLY, slot, count, 0]
                    jumps.append(len(self.steps) - 1)
                self.steps.append(FALSE)
                self._land(jumps)
            case _:
                assert_never(pattern)

    def _joined(self, terms: tuple[Pattern, ...], jump: int, slot: int) -> None:
        jumps = []
        for number, term in enumerate(terms):
            if number:
                self.steps += [jump, 0]
                jumps.append(len(self.steps) - 1)
            self.write(term, slot)
        self._land(jumps)

    def _land(self, jumps: list[int]) -> None:
        for place in jumps:
            self.steps[place] = HEADER + len(self.steps)

    def _group(self, operand: Pattern) -> list[int]:
        """The number of members, and each as a run of words."""
        members = operand.terms if isinstance(operand, AnyOf) else (operand,)
        runs = list(dict.fromkeys(tuple(self._run(member)) for member in members))
        return [len(runs), *(step for run in runs for step in run)]

    def _run(self, operand: Pattern) -> list[int]:
        assert isinstance(operand, PatternWord | Phrase)
        words = operand.words if isinstance(operand, Phrase) else (operand,)
        return [len(words), *map(self._place, words)]

    def _place(self, word: PatternWord) -> int:
        return self.places[term_key(word, self.language)]
