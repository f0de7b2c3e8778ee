"""The news rules of IPTC EXTRA as filters: each binds, and means on texts made of its own words what its tree means."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

import pytest

from tests.feeds.real_files import real_file
from tidings.language import Filter
from tidings.matching.naive import matches

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
from iptc_rules import passes, read_rule, rules, schema, translated

APPROXIMATE = {"english": 17, "german": 20}
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
    assert translated('(or/countunique>1 (body any "a b c"))') == ("body contains (at least 2 of (a, b, c))", [])
    assert translated('(or/count>=2 (body any "a b c"))')[1] == ["how often a word occurs"]
