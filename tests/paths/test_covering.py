"""Covering against brute force, and XEvent's figures.

Without tests, a path that selects a node of a document does so along one chain from the root: chains are enough."""

from itertools import product

import pytest
from hypothesis import given, settings

from tests.paths.strategies import leading_anywhere, plain_paths
from tidings.paths.covering import covers
from tidings.paths.instantiation import instantiate
from tidings.paths.parser import parse_path
from tidings.paths.printer import path_text
from tidings.paths.tree import Attribute, Element, Text

RECORD = "/SigmodRecord/issue/articles/article"
FIGURE_3 = {
    1: RECORD + '/authors/author[@position="00"]',
    2: '/SigmodRecord//author[@position = "00"]',
    3: RECORD + '/*/author[@position = "00"]',
    4: RECORD + '/authors/author[@position>"00"]',
    5: RECORD + '//author[@position = "00"]',
    6: '/SigmodRecord//author[@position >= "00"]',
    7: "/SigmodRecord//author",
    8: "//author",
}
FIGURE_2 = [
    tuple(path[1:].split("/"))
    for path in (
        "/SigmodRecord/issue/volume",
        "/SigmodRecord/issue/number",
        RECORD + "/title",
        RECORD + "/initPage",
        RECORD + "/endPage",
        RECORD + "/authors/author",
    )
]


def test_the_relations_of_figure_3():  # XEvent, section II
    paths = {number: parse_path(text) for number, text in FIGURE_3.items()}
    for chain in ((1, 3, 5, 2, 6, 7, 8), (4, 6, 7, 8)):
        for place, narrow in enumerate(chain):
            for wide in chain[place:]:
                assert covers(paths[wide], paths[narrow]), (wide, narrow)
                assert wide == narrow or not covers(paths[narrow], paths[wide]), (narrow, wide)
    assert not covers(paths[4], paths[1])
    assert not covers(paths[2], paths[4])


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("//articles//title", "/SigmodRecord/issue/articles//title"),  # XEvent, table I
        ("/*/issue//article/*/author", "/SigmodRecord/issue//article/*/author"),  # XEvent, table I
        ("//author", RECORD + "/authors/author"),  # XEvent, section IV.B, note 1
        ("/SigmodRecord//author", "/SigmodRecord//author"),
        ("//issue[volume = 11]//@x", "/SigmodRecord/issue[volume = 11]//@x"),
    ],
)
def test_instantiation(text, made):
    assert [path_text(path) for path in instantiate(parse_path(text), FIGURE_2)] == [made]


def test_instantiation_of_what_the_grammar_has_not_or_has_twice():
    assert instantiate(parse_path("//volume/title"), FIGURE_2) == ()
    twice = [("r", "a", "x"), ("r", "b", "x")]
    assert [path_text(path) for path in instantiate(parse_path("//x"), twice)] == ["/r/a/x", "/r/b/x"]


def selects(steps, chain):
    """The meaning, on a document that is one chain of names."""
    if not steps:
        return True
    for place, name in enumerate(chain if steps[0].axis == "descendant" else chain[:1]):
        wanted = steps[0].node.name
        if (wanted is None or wanted.local == name) and selects(steps[1:], chain[place + 1 :]):
            return True
    return False


CHAINS = [chain for length in range(1, 8) for chain in product("abz", repeat=length)]


def truly_covers(general, specific):
    return all(selects(general.steps, chain) for chain in CHAINS if selects(specific.steps, chain))


@settings(max_examples=150)
@given(general=plain_paths, specific=plain_paths)
def test_without_tests_covering_is_what_brute_force_finds(general, specific):
    assert covers(general, specific) == truly_covers(general, specific)


LEAVES = ("@k", "@j", "text()")
CHAINS_TO_LEAVES = [
    (*chain, leaf) for length in range(1, 7) for chain in product("abz", repeat=length) for leaf in LEAVES
]


def selects_leaf(steps, chain):
    """As `selects`; the last of the chain is an attribute or a text."""
    if not steps:
        return True
    for place, name in enumerate(chain if steps[0].axis == "descendant" else chain[:1]):
        if fits(steps[0].node, name) and selects_leaf(steps[1:], chain[place + 1 :]):
            return True
    return False


def fits(node, name):
    if isinstance(node, Element):
        return name not in LEAVES and (node.name is None or node.name.local == name)
    return name in (
        {"@k", "@j"} if node == Attribute(None) else {"text()"} if node == Text() else {f"@{node.name.local}"}
    )


@settings(max_examples=150)
@given(general=leading_anywhere, specific=leading_anywhere)
def test_paths_to_attributes_and_texts_by_brute_force(general, specific):
    holds = all(selects_leaf(general.steps, chain) for chain in CHAINS_TO_LEAVES if selects_leaf(specific.steps, chain))
    assert covers(general, specific) == holds


@pytest.mark.parametrize(
    ("general", "specific"),
    [
        ("//*/@k", "//@k"),  # an attribute is on an element
        ("//@k", "//*/@k"),
        ("/*//@*", "//a/@k"),
        ("//*", "//@k"),
        ("//*/text()", "//text()"),
        ("//@k", "//a[@k]"),
        ("//a[@k]", "//a/@k"),
        ("//a/@k", "//a[@k]"),
        ("//*[@k]", "//@k"),
        ("//@k", "//a[@k = '1']/b"),
        ("//b[. = 'x']", "//a[b = 'x'][c]"),
        ("//a[.//b[@k]]", "//a[c/b/@k > 3]//d"),
        ("//@k[. = 1]", "//a[b[@k = 1] and c]"),
        ("//b/c", "/@k"),  # selects nothing
    ],
)
def test_what_tests_ask_for_is_a_step_too(general, specific):
    assert covers(parse_path(general), parse_path(specific))


@pytest.mark.parametrize(
    ("general", "specific"),
    [
        ("/*/@k", "//@k"),
        ("//*/*/@k", "//@k"),
        ("//a[@k]", "//@k"),
        ("//a[not(.//@k)]", "//a/*//@k"),
        ("//@k", "//a[not(@k)]"),
        ("//@k", "//a[@k or b]"),
        ("//a[b][c]", "//a[b]/c"),
        ("//a[.//*/@k]", "//a[.//@k]"),  # it may be on the a itself
    ],
)
def test_what_tests_ask_for_is_not_more(general, specific):
    assert not covers(parse_path(general), parse_path(specific))


@pytest.mark.slow
def test_without_tests_all_small_pairs():
    steps = [axis + name for axis in ("/", "//") for name in ("a", "b", "*")]
    paths = [parse_path("".join(path)) for length in (1, 2, 3) for path in product(steps, repeat=length)]
    held = {path: frozenset(n for n, chain in enumerate(CHAINS) if selects(path.steps, chain)) for path in paths}
    for general, specific in product(paths, repeat=2):
        assert covers(general, specific) == (held[specific] <= held[general]), (general, specific)


@pytest.mark.parametrize(
    ("general", "specific"),
    [
        ("/a//*/b", "/a/*//b"),
        ("//a[b]", "//a[b and c]"),
        ("//a[b or c]", "//a[c]"),
        ("//a[b]", "//a[b = 'x']"),
        ("//a[.//c]", "//a[b/c > 3]"),
        ("//a[not(b = 'x')]", "//a[not(b)]"),
        ("//a[@k >= 1]", "//a[@k = '07']"),
        ("//a[@k != 'x']", "//a[@k = 'y']"),
        ("//a[@k < 5]", "//a[@k <= 4]"),
        ("//a[contains(@k, 'b')]", "//a[@k = 'abc']"),
        ("//a[starts-with(b, 'x')]", "//a[starts-with(b, 'xy')]"),
        ("//a[b]", "//a[b = 1 or b = 2]"),
        ("//*[@k]//@*", "/a[@k]/b/@j"),
        ("//a/*", "//a/b/@k"),
    ],
)
def test_tests_that_imply_each_other(general, specific):
    assert covers(parse_path(general), parse_path(specific))
    assert not covers(parse_path(specific), parse_path(general)) or "/*" in specific


@pytest.mark.parametrize(
    ("general", "specific"),
    [
        ("//a[contains(b, 'b')]", "//a[b = 'abc']"),  # contains looks at the first b alone
        ("//a[b = '1']", "//a[b = 1]"),
        ("//a[@k = 1]", "//a[@k = '1x']"),
        ("//a[not(b)]", "//a[not(b = 'x')]"),
        ("//a/*", "//a/@k"),
        ("//a/@*", "//a/text()"),
        ("//a[b > 3]", "//a[b != 3]"),
        ("//a[@k != 3]", "//a[@k <= 3]"),
    ],
)
def test_tests_that_do_not(general, specific):
    assert not covers(parse_path(general), parse_path(specific))


def test_many_alternatives_do_not_take_exponential_time():
    either = "".join(f"[a{place} or b{place} or c{place}]" for place in range(20))
    assert not covers(parse_path("//x[d and e]"), parse_path(f"//x{either}"))
    assert covers(parse_path(f"//x{either}"), parse_path(f"//x{either}"))


@pytest.mark.parametrize(
    ("general", "specific", "covered"),
    [
        ("//a[. <= 5]", "//a[. < 5]", True),
        ("//a[. < 5]", "//a[. <= 5]", False),
        ("//a[. < 5]", "//a[. <= 4]", True),
        ("//a[contains(., 'b')]", "//a[starts-with(., 'abc')]", True),
        ("//a[starts-with(., 'ab')]", "//a[starts-with(., 'abc')]", True),
        ("//a[starts-with(., 'ab')]", "//a[contains(., 'abc')]", False),
    ],
)
def test_tests_of_bounds_and_texts(general, specific, covered):
    assert covers(parse_path(general), parse_path(specific)) is covered
