"""`A xpath '…'`: binding and its errors, warnings, negation, covering and overlapping."""

import pytest

from tidings.errors import LanguageError
from tidings.language import Filter, covers
from tidings.language.analysis.overlapping import overlaps
from tidings.paths.errors import PathTooLarge
from tidings.schema import Catalog

DTD = "<!ELEMENT nitf (head)><!ELEMENT head (title*)><!ELEMENT title (#PCDATA)><!ATTLIST title k CDATA #IMPLIED>"
CATALOG = Catalog.from_dict(
    {
        "domains": [
            {"name": "nitf", "kind": "document", "grammar": {"dtd": DTD}, "root": "nitf"},
            {"name": "any", "kind": "document", "namespaces": {"n": "urn:n", "": "urn:d"}},
            {"name": "none", "kind": "document", "operators": []},
            {"name": "number", "kind": "numeric"},
        ],
        "attributes": [
            {"name": "article", "domain": "nitf"},
            {"name": "doc", "domain": "any"},
            {"name": "silent", "domain": "none"},
            {"name": "urgency", "domain": "number"},
        ],
        "event_types": [
            {
                "name": "news",
                "attributes": [{"name": name} for name in ("article", "silent", "urgency")]
                + [{"name": "doc", "unique": False}],
            }
        ],
    }
)


def bound(text):
    return Filter.parse(text, CATALOG)


def test_canonical_text_is_read_again():
    one = bound("""doc xpath '//n:a[b="it''s"]' and not (doc xpath '/a')""")
    assert one.text == """doc xpath '//n:a[b = "it''s"]' and doc not xpath '/a'"""
    assert bound(one.text).tree == one.tree


@pytest.mark.parametrize(
    ("text", "problem", "column"),
    [
        ("doc xpath '//a[1]'", "a position is not supported", 16),
        ("doc xpath '//a[b = ''x'' and c[2]]'", "a position is not supported", 32),
        ("doc xpath 'a/b'", "begin", 12),
        ("doc xpath '//q:a'", "prefix 'q' is not declared; valid: 'n', 'xml'", 14),
        ("doc xpath '//a/ancestor::b'", "axis", 16),
        ("doc xpath 5", "a path in single quotes", 11),
        ("urgency xpath '//a'", "'xpath' is for document attributes; 'urgency' is numeric", 9),
        ("silent xpath '//a'", "does not allow 'xpath'", 8),
        ("doc = '<a/>'", "does not allow '='; it allows xpath contains exists", 5),
    ],
)
def test_errors_show_the_place_in_the_filter(text, problem, column):
    with pytest.raises(LanguageError) as caught:
        bound(text)
    assert problem in str(caught.value)
    assert f"column {column}" in str(caught.value)


def test_a_path_may_not_become_too_long_by_its_canonical_form():
    path = "//a[" + " or ".join(f"b='{'x' * 128}'" for _ in range(30)) + "]"
    assert len(path) < 4096
    with pytest.raises(PathTooLarge):
        bound("doc xpath '" + path.replace("'", "''") + "'")


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("doc xpath '//a[contains(b, ''x'')]'", "looks at the first node"),
        ("doc xpath '//a[b != ''x'']'", "holds when some node differs"),
        ("doc xpath '//a[b < ''x'']'", "is never true"),
        ("article xpath '//titel'", "the grammar allows no element 'titel' there; did you mean 'title'?"),
        ("article xpath '//title[@j]'", "no attribute 'j'"),
        ("article xpath '//head/title' and article not xpath '//title'", "can never match"),
    ],
)
def test_warnings(text, warning):
    assert any(warning in one for one in bound(text).warnings)


def test_most_paths_get_no_warning():
    assert bound("article xpath '/nitf/head/title[@k = ''1'']'").warnings == ()


@pytest.mark.parametrize(
    ("wide", "narrow", "expected"),
    [
        ("doc xpath '//a'", "doc xpath '/b/a'", True),
        ("doc xpath '/b/a'", "doc xpath '//a'", False),
        ("doc xpath '//a'", "doc xpath '/b/a' and urgency < 3", True),
        ("doc not xpath '/b/a'", "doc not xpath '//a'", True),
        ("doc not xpath '//a'", "doc not xpath '/b/a'", False),
        ("doc exists", "doc xpath '//a'", True),
        ("doc xpath '//a'", "article xpath '//a'", False),
        ("doc xpath '//a' or doc xpath '//b'", "doc xpath '//c'", False),
        ("doc xpath '//b' or doc xpath '//c'", "doc xpath '//b/c'", True),
    ],
)
def test_covering(wide, narrow, expected):
    assert covers(bound(wide), bound(narrow), CATALOG) is expected


def test_overlapping_says_no_only_when_it_knows():
    assert overlaps(bound("doc xpath '//a'"), bound("doc xpath '//b'"), CATALOG)
    assert not overlaps(bound("doc xpath '//a/b'"), bound("doc not xpath '//b'"), CATALOG)
    assert overlaps(bound("doc xpath '//b'"), bound("doc not xpath '//a/b'"), CATALOG)
