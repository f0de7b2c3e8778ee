"""Paths come and go for ever: the index keeps what its paths need and nothing else, and answers as libxml2 does."""

import random

from tests.documents.index.test_path_index import matched, naive
from tidings.documents.index.path_index import PathIndex
from tidings.paths.parser import parse_path

DOCUMENT = (
    b'<a xmlns:n="urn:n"><b k="7"><c>1</c><c>22</c></b><n:b><d>x7</d></n:b><b><c>7</c><e n:k="1">storm</e></b></a>'
)
FORMS = (
    "//b[@k = '{}']", "//b[c = {}]", "//b[c >= {}]/c", "//c[contains(., '{}')]", "//b[not(x{})]", "/a/x{}",
    "//n:b[d = 'x{}']", "//b[c[. = '{}'] and e]", "//e[@n:k or x{}]", "//b[starts-with(c, '{}')][c]", "/a//c",
    "//b[.//c != {}]", "//m{}:b",
)  # fmt: skip


def _path(number: int, dice: random.Random):
    form = dice.choice(FORMS)
    return parse_path(form.format(number), {"n": "urn:n", f"m{number}": f"urn:{number}"})


def test_an_index_whose_paths_come_and_go_does_not_grow() -> None:
    dice = random.Random(1)
    index, numbered, held = PathIndex(small=1, spare=100), {}, []
    for round in range(40):
        for number in range(50):
            if number in numbered:
                index.remove(number)
            numbered[number] = _path(dice.choice((1, 7, 22, 50 * round + number)), dice)
            index.add(number, numbered[number])
        plain = {number: path for number, path in numbered.items() if "m" not in str(path.steps[0].node)}
        assert matched(index, [DOCUMENT])[0] & plain.keys() == naive(plain, DOCUMENT)
        held.append(index.held)
    assert max(held[20:]) <= (3 * 50 + 20, 3 * 4 * 50, 3 * 50), "names, operations and texts"
    assert held[-1] < tuple(10 * one for one in held[0]), "a round has 50 paths, 40 rounds 2,000"


def test_without_paths_nearly_nothing_is_left() -> None:
    index = PathIndex(spare=10)
    empty = index.held
    for number in range(1_000):
        index.add(number, parse_path(f"//x{number}[y{number} = '{number}']"))
    assert matched(index, [DOCUMENT]) == [set()]
    for number in range(1_000):
        index.remove(number)
    assert all(one <= before + 3 * 11 for one, before in zip(index.held, empty, strict=True)), "of the last ten at most"
    index.add(5, parse_path("//b[@k = '7']"))
    assert matched(index, [DOCUMENT]) == [{5}]


def test_paths_that_were_never_searched_for_are_reclaimed_too() -> None:
    index = PathIndex(spare=10)
    for number in range(1_000):
        index.add(number, parse_path(f"//b[y = '{number}']"))
        index.remove(number)
    assert max(index.held) < 50
