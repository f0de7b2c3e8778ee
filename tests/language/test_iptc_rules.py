"""The news rules of IPTC EXTRA as filters: each binds, and means on texts made of its own words what its tree means."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

import pytest
from Stemmer import Stemmer

from tests.feeds.real_files import real_file
from tidings.language import Filter
from tidings.matching.naive import matches

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
from iptc_rules import Clause, Operator, passes, read_rule, rules, schema, translated

APPROXIMATE = {"english": 18, "german": 20}
TEXTS = 40


@pytest.mark.parametrize("language", ["english", "german"])
def test_all_rules_are_translated(language: str) -> None:
    folder = real_file("iptc-extra-rules")
    catalog = schema(language)
    found = rules(folder, language)
    assert len(found) == 36
    approximate = matched = 0
    for number, rule in enumerate(found):
        text, unsaid = translated(rule["query"])
        approximate += bool(unsaid)
        filter = Filter.parse(text, catalog)
        tree = read_rule(rule["query"])
        for texts in _texts(rule["query"], number):
            event = {name: (value,) for name, value in texts.items()} | {"text_content": tuple(texts.values())}
            expected = passes(tree, texts, language)
            assert matches(filter.tree, event, catalog) == expected, (number, texts)
            matched += expected
    assert approximate == APPROXIMATE[language]
    assert matched > 100  # both answers occur


@pytest.mark.parametrize("language", ["english", "german"])
def test_what_is_said_exactly_means_what_the_rule_says(language: str) -> None:
    """Read here from the texts alone, without patterns, so that nothing is compared with itself."""
    catalog, compared, matched = schema(language), 0, 0
    for number, rule in enumerate(rules(real_file("iptc-extra-rules"), language)):
        text, unsaid = translated(rule["query"])
        if unsaid:
            continue
        compared += 1
        filter, tree = Filter.parse(text, catalog), read_rule(rule["query"])
        for texts in _texts(rule["query"], number):
            event = {name: (value,) for name, value in texts.items()} | {"text_content": tuple(texts.values())}
            expected = _holds(tree, texts, language)
            assert matches(filter.tree, event, catalog) == expected, (number, texts)
            matched += expected
    assert compared == 36 - APPROXIMATE[language]
    assert matched > 50


def _holds(tree: Clause | Operator, texts: dict[str, str], language: str) -> bool:
    if isinstance(tree, Clause):
        every = all if tree.relation == "all" else any
        return any(every(_spans(tree, one, language)) for one in _of(tree.field, texts))
    if tree.name == "and":
        return all(_holds(term, texts, language) for term in tree.terms)
    if tree.name in ("or", "not"):
        return any(_holds(term, texts, language) for term in tree.terms) == (tree.name == "or")
    name, sign, number = re.split("(>=|>|<=|<)", tree.name)
    members = [_clauses(term) for term in tree.terms]
    (field,) = {clause.field for some in members for clause in some}  # else it is not said exactly
    (text,) = _of(field, texts)
    if name == "or/countunique":
        spans = [one for some in members for clause in some for one in _spans(clause, text, language)]
        return sum(map(bool, spans)) >= int(number) + (sign == ">")
    assert name == "prox/unit=word/distance", tree.name
    places = [{span for clause in some for one in _spans(clause, text, language) for span in one} for some in members]
    reached = places[0]
    for some in places[1:]:
        reached = {b for b in some if any(_near(sign, int(number), *sorted((a, b))) for a in reached)}
    return bool(reached)


def _near(sign: str, number: int, first: tuple[int, int], second: tuple[int, int]) -> bool:
    distance = second[0] - first[1] + 1
    return distance >= 1 and {"<": distance < number, "<=": distance <= number, ">": distance > number}[sign]


def _clauses(tree: Clause | Operator) -> list[Clause]:
    return [tree] if isinstance(tree, Clause) else [one for term in tree.terms for one in _clauses(term)]


def _of(field: str, texts: dict[str, str]) -> list[str]:
    return list(texts.values()) if field == "text_content" else [texts[field]]


def _spans(clause: Clause, text: str, language: str) -> list[set[tuple[int, int]]]:
    """Where in the text the words between the spaces of a clause occur, each by itself; of `adj`, all in a row."""
    cut, stem = re.compile(r"[^\W_]+"), Stemmer(language).stemWord
    here = cut.findall(text.lower())

    def at(place: int, word: str, star: bool) -> bool:
        if star:
            return here[place].startswith(word)
        if "stemming" in clause.modifiers:
            return bool(stem(here[place]) == stem(word))
        return here[place] == word

    groups = []
    for written in clause.text.lower().split():
        words = cut.findall(written)
        groups.append([(word, written.endswith("*") and i == len(words)) for i, word in enumerate(words, 1)])
    if clause.relation == "adj":
        groups = [[pair for group in groups for pair in group]]
    return [
        {
            (start, start + len(group))
            for start in range(len(here) - len(group) + 1)
            if all(at(start + i, *pair) for i, pair in enumerate(group))
        }
        for group in groups
        if group
    ]


def _texts(query: str, seed: int) -> list[dict[str, str]]:
    """Titles, subtitles and bodies made of phrases of the rule and other words."""
    chance = random.Random(seed)
    phrases = [one.replace("*", "xx") for one in re.findall(r'"((?:[^"\\]|\\.)*)"', query)]

    def made(most: int) -> str:
        some = (chance.choice(phrases) if chance.random() < 0.6 else "filler" for _ in range(chance.randint(0, most)))
        return " ".join(some)

    return [{"title": made(2), "subtitle": made(1), "body": made(5)} for _ in range(TEXTS)]


def test_comments_and_bare_texts_are_read() -> None:
    text, unsaid = translated('(and // people // ("red car") (not (title = "x*") (body any/stemming "a b")))')
    assert text == ('text_content contains ("red car") and not (title contains (x*) or body contains (a~ or b~))')
    assert unsaid == []


def test_what_is_only_approximate_is_named() -> None:
    text, unsaid = translated(
        '(or (prox/unit=word/distance<=3 (title any "a b") (title adj "c d")) (title adj/regexp "x+"))'
    )
    assert '(a or b) near[2] "c d"' in text
    assert unsaid == ["regular expression"]
    assert translated('(prox/unit=sentence/distance=1 ("a") ("b"))')[1] == ["sentence"]
    assert translated('(prox/unit=word/distance>0 (body any "a") (body any "b"))') == (
        "body contains (a near[1000] b)",
        ["distance without a limit"],
    )
    assert translated('(or/countunique>1 (body any "a b c"))') == ("body contains (at least 2 of (a, b, c))", [])
    assert translated('(or/count>=2 (body any "a b c"))')[1] == ["how often a word occurs"]
