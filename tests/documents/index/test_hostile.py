"""Documents and paths that are made to take long: in time of the processor, with much room."""

import random
import time

import numba
import pytest

from tests.documents.index.test_path_index import matched, naive
from tidings.documents.batch import read_documents
from tidings.documents.index import path_index
from tidings.documents.index.automaton import AutomatonLimits
from tidings.documents.index.evaluate import seek
from tidings.documents.index.path_index import PathIndex
from tidings.paths.parser import parse_path

UNBOUNDED = AutomatonLimits(states=1)  # each document is past the cap of states


def filled(texts, **options):
    index = PathIndex(**options)
    for number, text in enumerate(texts):
        index.add(number, parse_path(text))
    return index


def taken(index, batch):
    """Seconds of the processor, after everything is compiled; and the paths that hold."""
    index.match(read_documents([b"<a k='v0'><b>1</b></a>"]))
    started = time.process_time()
    _, numbers = index.match(batch)
    return time.process_time() - started, set(numbers.tolist())


def test_values_are_looked_up_in_a_document_past_the_cap_of_states_too():
    """Path by path it took 4.1 s; now 3 ms."""
    inner = b"".join(b"<b k='v%d'/>" % (place % 7) for place in range(6_000))
    index = filled([f"//*[@k = 'v{number}']" for number in range(1_000)], limits=UNBOUNDED)
    seconds, numbers = taken(index, read_documents([b"<a>%s</a>" % inner]))
    assert numbers == set(range(7))
    assert seconds < 1


def test_numbers_are_looked_up_there_too():
    inner = b"".join(b"<b><c>%d</c></b>" % place for place in range(2_000))
    texts = [f"//*[c > {number}.5]" for number in range(1_000, 3_000)] + [f"//b[c = {n}]" for n in range(0, 4_000, 2)]
    seconds, numbers = taken(filled(texts, limits=UNBOUNDED), read_documents([b"<a>%s</a>" % inner]))
    assert numbers == set(range(999)) | set(range(2_000, 3_000))
    assert seconds < 1


CHAINS = [
    "//*[.//*" + "//*" * 11 + " = 'x']",
    "//*[not(.//*" + "//a[.//*]" * 4 + "/b/c)]",
    "//*[contains(.//*//*//*, 'x')]",
]


@pytest.mark.parametrize("path", CHAINS)
def test_what_is_below_a_node_is_sought_once(path):
    """On 27,000 nodes, the first took 3 s before subtrees were remembered; now 0.1."""
    document = b"<r>" + (b"<a>" * 90 + b"</a>" * 90) * 300 + b"</r>"
    seconds, _ = taken(filled([path]), read_documents([document]))
    assert seconds < 1.5


def test_remembering_finds_what_looking_finds(monkeypatch):
    """Small documents are only looked at, and large ones are too slow for libxml2."""
    dice = random.Random(5)
    texts = ["//*[contains(.//a/b, '1')]", "//*[.//a//b[.//c] = '2']", "//a[not(.//*//c)]", "//*[.//@k = 'v']//b[.//c]"]
    texts += [f"/r[contains(.//a/b, '{number}')]" for number in (1, 2)]
    texts += [f"//*[starts-with(.//{one}//{other}, '{n}')]" for one in "ab*" for other in "bc" for n in (1, 2, 3)]

    def grown(depth):
        name = dice.choice("abc")
        inner = "".join(grown(depth - 1) for _ in range(dice.randrange(4))) if depth else str(dice.randrange(4))
        return f"<{name}{dice.choice(('', '', ' k=' + repr('v')))}>{inner}</{name}>"

    documents = [f"<r>{grown(6)}</r>".encode() for _ in range(30)]
    documents.append(b"<r><a><x><a><b>1</b></a></x><b>2</b></a></r>")
    expected = [naive({n: parse_path(text) for n, text in enumerate(texts)}, document) for document in documents]
    assert 0 < sum(map(len, expected)) < 15 * len(texts)
    for patience in (0, 1_000_000):
        monkeypatch.setattr(path_index, "PATIENCE", patience)
        assert matched(filled(texts), documents) == expected


def test_seek_is_compiled_once():
    """With two signatures that call each other, it would crash when it comes from the cache."""
    if not numba.config.DISABLE_JIT:
        filled(["//a[contains(., 'x') and .//b//c = 'y']"]).match(read_documents([b"<a/>"]))
        assert len(seek.signatures) <= 1  # none if it came from the cache
