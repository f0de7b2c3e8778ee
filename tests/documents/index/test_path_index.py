"""The index against libxml2, path by path: every path of the subset, also after additions and withdrawals."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from tests.documents.strategies import documents
from tests.documents.test_batch import PARSER
from tests.paths.strategies import paths
from tidings.documents.batch import read_documents
from tidings.documents.errors import PathNumberTaken, UnknownPathNumber
from tidings.documents.index.automaton import AutomatonLimits
from tidings.documents.index.path_index import PathIndex
from tidings.documents.index.pool import Pool
from tidings.paths.parser import parse_path
from tidings.paths.printer import path_text


def naive(numbered, document):
    root = etree.fromstring(document, PARSER)
    return {
        number
        for number, path in numbered.items()
        if etree.XPath(f"boolean({path_text(path)})", namespaces={"n": "urn:n"})(root)
    }


SIMULATED = {}
AUTOMATON = {"small": 1}
RESTARTED = {"small": 1, "limits": AutomatonLimits(states=8, new_states=5)}  # and some documents simulated
RECLAIMED = {"small": 1, "spare": 0}
kinds = st.sampled_from((SIMULATED, AUTOMATON, RESTARTED, RECLAIMED))


def matched(index, given_documents):
    offsets, numbers = index.match(read_documents(given_documents))
    rows = [numbers[start:stop].tolist() for start, stop in pairwise(offsets)]
    assert all(len(set(row)) == len(row) for row in rows)
    return [set(row) for row in rows]


def filled(texts, **options):
    index = PathIndex(**options)
    for number, text in enumerate(texts):
        index.add(number, parse_path(text, {"n": "urn:n"}))
    return index


@settings(max_examples=100)
@given(
    given_paths=st.lists(paths, min_size=1, max_size=12),
    given_documents=st.lists(documents, min_size=1, max_size=3),
    kind=kinds,
)
def test_random_paths_hold_where_libxml2_says_so(given_paths, given_documents, kind):
    """The same documents once more: by then the automaton knows them, and has put paths into groups."""
    index = PathIndex(**kind)
    for number, path in enumerate(given_paths):
        index.add(number, path)
    numbered = dict(enumerate(given_paths))
    expected = [naive(numbered, document) for document in given_documents]
    assert matched(index, given_documents) == expected
    assert matched(index, given_documents * 3) == expected * 3


@settings(max_examples=40)
@given(
    changes=st.lists(st.lists(st.tuples(st.integers(0, 9), paths), max_size=5), min_size=2, max_size=5),
    document=documents,
    kind=kinds,
)
def test_additions_and_withdrawals(changes, document, kind):
    index, numbered = PathIndex(**kind), {}
    for group in changes:
        for number, path in group:
            if number in numbered:
                index.remove(number)
                del numbered[number]
            else:
                index.add(number, path)
                numbered[number] = path
        assert matched(index, [document]) == [naive(numbered, document)]
        assert len(index) == len(numbered)


def test_paths_are_withdrawn_before_and_after_they_are_grouped():
    index = filled(["//b", "//c", "/a/b", "//b/c", "//*", "/a//c", "/a"], small=1)
    document = b"<a><b><c/></b><c/><b/></a>"
    left = set(range(7))
    assert matched(index, [document]) == [left]
    for number in (1, 4, 6):
        index.remove(number)
        left.remove(number)
        for _ in range(20):
            assert matched(index, [document] * 20) == [left] * 20


@pytest.mark.parametrize("kind", [SIMULATED, AUTOMATON], ids=["simulated", "automaton"])
@pytest.mark.parametrize(
    ("path", "held"),
    [
        ("/a//b", True),
        ("//b/a", False),
        ("//a/b[c]/@k", True),
        ("//@k[. = 'v']", True),
        ("//b[contains(c, '2')]", False),  # the first c alone
        ("//b[c[contains(., '2')]]", True),
        ("//b[.//d != 'x']", False),
        ("//b[starts-with(z, '')]", True),
        ("//b[c = 1.0]", True),
        ("//b[c = '1.0']", False),
        ("//b[c < 'x']", False),
        ("//text()[. = '2']", True),
        ("//b[a/c or not(a)]", True),
        ("//c[. <= 1]", True),
        ("//c[. < 1]", False),
        ("//c[. >= 2]", True),
        ("//c[. > 2]", False),
        ("//b[c <= 1 or z]", True),  # tests below an or are not looked up
        ("//b[c < 1 or z]", False),
        ("//b[c >= 2 or z]", True),
        ("//b[c > 2 or z]", False),
        ("//b[@k = 'v']", True),
        ("//b[c = 'x' or @k = '']", False),
        ("//d[. < -2]", True),
        ("//d[. > -2]", False),
        ("//b[.//d and not(.//c)]", False),
    ],
)
def test_meaning(path, held, kind):
    document = b"<a><b k='v'><c>1</c><c>2</c></b><d>-3</d></a>"
    assert matched(filled([path], **kind), [document]) == [{0} if held else set()]
    assert naive({0: parse_path(path)}, document) == ({0} if held else set())


def test_a_namespace_that_no_path_speaks_of_is_not_none():
    assert matched(filled(["/a/b", "/*", "//n:b"]), [b"<a xmlns='urn:d'><b/></a>"]) == [{1}]


def test_what_waits_on_the_way_down_tells_states_apart():
    index = filled(["//a//b", "//d//e"], **AUTOMATON)
    assert matched(index, [b"<r><c/><a><c><b/></c></a></r>"]) == [{0}]
    assert matched(index, [b"<r><a><d><b/></d></a></r>"]) == [{0}]
    assert matched(index, [b"<r><c><b/></c><d><c><e/></c></d></r>"]) == [{1}]


def test_one_text_is_asked_for_at_several_places():
    texts = ["//b[@k = 'v']", "/a/b[@k = 'v']", "/a/c[@k = 'v']", "/a/b[@k = 'v']/c", "/a/*[@k = 'v' and c]"]
    index = filled(texts, **AUTOMATON)
    assert matched(index, [b"<a><b k='v'/></a>", b"<a><b k='v'><c/></b></a>", b"<a><c k='v'/></a>"]) == [
        {0, 1},
        {0, 1, 3, 4},
        {2},
    ]


def test_steps_after_a_test_stay_below_its_node():
    index = filled(["/a/b[@k = 'v']//d", "/a/b[@k = 'v']//c/d", "/a/b[@k = 'v']/*//d"], **AUTOMATON)
    assert matched(index, [b"<a><b k='v'><c/></b><b><c><d/></c></b></a>"]) == [set()]
    assert matched(index, [b"<a><b k='v'><c/><c><e/><d/></c></b></a>"]) == [{0, 1, 2}]


@pytest.mark.parametrize("kind", [SIMULATED, AUTOMATON], ids=["simulated", "automaton"])
def test_a_text_is_not_asked_for_where_only_another_node_was_reached(kind):
    index = filled(["//a[@k = 'v']", "//b[@k = 'w']", "//b[c > 1]", "//a[c > 1]"], **kind)
    assert matched(index, [b"<r><a/><b k='v'><c>2</c></b></r>"]) == [{2}]


def test_what_is_beyond_all_numbers_is_not_more_than_itself():
    huge = "9" * 400
    index = filled([f"//a[. > '{huge}']", f"//a[. >= '{huge}']", "//a[. > 1]"], **AUTOMATON)
    assert matched(index, [f"<a>{huge}</a>".encode()]) == [{1, 2}]


def test_the_first_node_is_the_first_in_the_document():
    """Of `.//a/b` that is a b within an inner a, which a search step by step would find later."""
    document = b"<r><a><x><a><b>1</b></a></x><b>2</b></a></r>"
    assert matched(filled(["/r[contains(.//a/b, '1')]", "/r[contains(.//a/b, '2')]"]), [document]) == [{0}]


def test_chains_of_descendants_do_not_take_exponential_time():
    depth = 90
    document = b"<a>" * depth + b"</a>" * depth
    wanted = "//a[" + ".//a" + "//a" * 18 + " = 'x']"
    assert matched(filled([wanted, "//a[" + ".//a" + "//a" * 18 + "]"]), [document]) == [{1}]


def test_numbers_are_taken_once_and_known():
    index = filled(["//a"])
    with pytest.raises(PathNumberTaken):
        index.add(0, parse_path("//b"))
    index.match(read_documents([b"<a/>"]))
    with pytest.raises(PathNumberTaken):
        index.add(0, parse_path("//b"))
    index.remove(0)
    with pytest.raises(UnknownPathNumber):
        index.remove(0)
    index.add(0, parse_path("//b"))
    assert matched(index, [b"<a/>", b"<b/>"]) == [set(), {0}]


def test_no_paths_and_no_documents():
    assert matched(PathIndex(), [b"<a/>"]) == [set()]
    offsets, numbers = filled(["//a"]).match(read_documents([]))
    assert offsets.tolist() == [0]
    assert numbers.dtype == np.int32
    assert len(numbers) == 0


def test_one_new_path_does_not_rewrite_the_tables_of_all(monkeypatch):
    """With 100,000 paths with tests that took 40 ms each time; now 2."""
    texts = [f"//a[b{place} = 'x{place}']/c[contains(d, 'y{place}')]" for place in range(500)]
    index = filled(texts, small=1)
    document = b"<a><b7>x7</b7><c><d>y7</d></c><b600>x600</b600><c><d>y600</d></c></a>"
    assert matched(index, [document]) == [{7}]
    written = []
    add = Pool.add
    monkeypatch.setattr(Pool, "add", lambda pool, rows: (written.append(len(rows)), add(pool, rows)))
    index.add(600, parse_path("//a[b600 = 'x600']/c[contains(d, 'y600')]"))
    assert matched(index, [document]) == [{7, 600}]
    assert sum(written) < 200
