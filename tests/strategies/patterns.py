"""Generated word patterns and texts of few words, so that they match often."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from hypothesis import strategies as st

from tidings.language.patterns.tree import AtLeast, Chain, Lacks, Link, Pattern, PatternWord, Phrase, all_of, any_of

WORDS = ("run", "runs", "running", "red", "mini", "and", "日本")


def pattern_words(forms: str, words: Sequence[str]) -> st.SearchStrategy[PatternWord]:
    return st.builds(PatternWord, st.sampled_from(words), st.sampled_from(("", "", *forms)))


@st.composite
def chains(draw: st.DrawFn, operands: st.SearchStrategy[Pattern], far: bool = False) -> Pattern:
    parts = draw(st.lists(operands, min_size=2, max_size=3))
    links = []
    for _ in parts[1:]:
        least, more = draw(st.integers(0, 2)), draw(st.integers(0, 2))
        least, more = draw(st.sampled_from(((least, more), (30 * least, 40 * more)))) if far else (least, more)
        links.append(Link("near", 0, more) if draw(st.booleans()) else Link("<", least, least + more))
    return Chain(tuple(parts), tuple(links))


def patterns(
    forms: str = "*~", most: int = 8, words: Sequence[str] = (*WORDS, "r", "ru")
) -> st.SearchStrategy[Pattern]:
    word = pattern_words(forms, words)
    phrase = st.lists(word, min_size=2, max_size=3).map(lambda words: Phrase(tuple(words)))
    operand: st.SearchStrategy[Pattern] = word | phrase | st.lists(word | phrase, min_size=2, max_size=3).map(any_of)

    def larger(inner: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Pattern]:
        several = st.lists(inner, min_size=2, max_size=3)
        counted = st.tuples(several, st.integers(1, 3)).map(lambda it: AtLeast(min(it[1], len(it[0])), tuple(it[0])))
        return several.map(all_of) | several.map(any_of) | st.builds(Lacks, inner) | counted

    leaves: st.SearchStrategy[Pattern] = word | phrase | chains(operand)
    return st.recursive(leaves, larger, max_leaves=most)


def texts() -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from((*WORDS, "Red", "x")), max_size=8).map(" ".join)


def far_chains() -> st.SearchStrategy[Pattern]:
    """Their words may be more than 64 words apart."""
    word = pattern_words("*~", (*WORDS, "r", "ru"))
    run = word | st.lists(word, min_size=2, max_size=3).map(lambda words: Phrase(tuple(words)))
    return chains(run | st.lists(run, min_size=2, max_size=3).map(any_of), far=True)


def long_texts(counts: Sequence[int] = (70, 130, 300)) -> st.SearchStrategy[str]:
    """Of that many words, some of them frequent and some rare."""

    def text(seed: int, count: int) -> str:
        rng = Random(seed)
        return " ".join(rng.choices(WORDS, [rng.choice((0.05, 0.5, 9)) for _ in WORDS], k=count))

    return st.builds(text, st.integers(0, 1 << 30), st.sampled_from(counts))
