"""Text to tree, back to text, and what is refused."""

import pickle

import pytest
from hypothesis import given, settings

from tests.paths.strategies import paths
from tidings.paths.errors import PathError, PathSyntax, PathTooLarge, UnknownPrefix, UnsupportedPath
from tidings.paths.parser import parse_path
from tidings.paths.printer import path_text
from tidings.paths.tree import (
    And,
    Attribute,
    Comparison,
    Element,
    Exists,
    Name,
    Not,
    Or,
    Path,
    Step,
    StringTest,
    Text,
)
from tidings.paths.warnings import path_warnings


def test_a_path_of_every_part():
    path = parse_path("/a//b[@k = 'x' and not(.//c < -2.5)]/*[contains(text(), \"y\") or .]/@k")
    below = Comparison((Step("descendant", Element(Name("c"))),), "<", -2.5)
    assert path == Path(
        (
            Step("child", Element(Name("a"))),
            Step(
                "descendant",
                Element(Name("b")),
                (And((Comparison((Step("child", Attribute(Name("k"))),), "=", "x"), Not(below))),),
            ),
            Step("child", Element(None), (Or((StringTest("contains", (Step("child", Text()),), "y"), Exists(()))),)),
            Step("child", Attribute(Name("k"))),
        )
    )


def test_and_binds_tighter_and_words_may_be_names():
    path = parse_path("//or[and or text and or]")
    assert path_text(path) == "//or[and or text and or]"
    (test,) = path.steps[0].tests
    assert isinstance(test, Or)
    assert isinstance(test.terms[1], And)


def test_prefixes_are_resolved_and_the_empty_one_is_for_elements_alone():
    path = parse_path("/a/n:b/@k", {"": "urn:d", "n": "urn:n"})
    names = [step.node.name for step in path.steps]
    assert [(name.local, name.namespace) for name in names] == [("a", "urn:d"), ("b", "urn:n"), ("k", "")]
    assert parse_path("//@xml:lang").steps[0].node.name.namespace == "http://www.w3.org/XML/1998/namespace"


@settings(max_examples=60)
@given(path=paths)
def test_printed_paths_parse_to_the_same_tree(path):
    assert parse_path(path_text(path), {"n": "urn:n"}) == path


@pytest.mark.parametrize(
    ("text", "construct"),
    [
        ("a/b", "a relative path"),
        ("@a", "a relative path"),
        (".", "a relative path"),
        ("/", "the document node '/' alone"),
        ("/a/child::b", "the axis 'child::'"),
        ("//a/ancestor::b", "the axis 'ancestor::'"),
        ("//@attribute::b", "the axis 'attribute::'"),
        ("/a/..", "'..', the parent axis"),
        ("/a/./b", "'.' as a step"),
        ("/a[1]", "a position"),
        ("/a[-1]", "a position"),
        ("/a[position() < 3]", "a position, position()"),
        ("/a[last()]", "a position, last()"),
        ("/a[count(b) > 1]", "the function count()"),
        ("/a[normalize-space(b) = 'x']", "the function normalize-space()"),
        ("/a[b = string(c)]", "the function string()"),
        ("/a[$x]", "a variable"),
        ("$x", "a variable"),
        ("/a | /b", "a union '|'"),
        ("/a[b = c]", "a comparison of two paths"),
        ("/a['x' = b]", "a comparison that begins with a literal"),
        ("/a['x']", "a text as a test"),
        ("/a[/b]", "an absolute path in a test"),
        ("/a[./b]", "'./'"),
        ("/a[b + 1 = 2]", "arithmetic"),
        ("/a[b div 2 = 2]", "arithmetic"),
        ("/a = 'x'", "an expression that is not a path"),
        ("(1 + 1)", "an expression that is not a path"),
        ("2", "an expression that is not a path"),
        ("count(//a)", "the function count()"),
        ("contains(//a, 'x')", "the function contains()"),
        ("//node()", "node()"),
        ("//comment()", "comment()"),
        ("//processing-instruction('x')", "processing-instruction()"),
        ("//n:*", "'prefix:*'"),
        ("/a/@b/c", "a step after an attribute or text()"),
        ("/a[not(b) = 'x']", "a comparison of truth values"),
        ("/a[(b)/c]", "a path that continues after parentheses"),
        ("/a[.[b]]", "a test after '.'"),
    ],
)
def test_outside_the_subset_the_construct_is_named(text, construct):
    with pytest.raises(UnsupportedPath) as refused:
        parse_path(text, {"n": "urn:n"})
    assert refused.value.construct == construct
    assert construct in str(refused.value)


@pytest.mark.parametrize(
    ("text", "column"),
    [("", 1), ("/a[", 4), ("/a]", 3), ("/a[b", 5), ("//", 3), ("/a b", 4), ("/a['x]", 4), ("/a[b = ]", 8), ("/a#", 3)],
)
def test_syntax_errors_have_a_place(text, column):
    with pytest.raises(PathSyntax) as refused:
        parse_path(text)
    assert (refused.value.line, refused.value.column) == (1, column)


def test_errors_survive_pickling_and_suggest_a_prefix():
    with pytest.raises(UnknownPrefix, match="did you mean 'nitf'") as refused:
        parse_path("/nift:a", {"nitf": "urn:n"})
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("/a" * 21, "consecutive steps"),
        ("/a[" + "/".join("a" * 21) + "]", "consecutive steps"),
        ("/a" + "[a" * 6 + "]" * 6, "nested tests"),
        ("/a" + "[a = 1]" * 32, "steps and comparisons in total"),
        ("/a[" + "(" * 101 + "a" + ")" * 101 + "]", "nested parentheses"),
        ("/" + "a" * 5_000, "characters"),
    ],
)
def test_limits(text, what):
    with pytest.raises(PathTooLarge) as refused:
        parse_path(text)
    assert refused.value.what == what


def test_at_the_limits():
    parse_path("/a" * 20)
    parse_path("/a" + "[a" * 5 + "]" * 5)


def test_any_text_is_refused_in_order():
    for text in ("/a[" * 4000, "(" * 4000, "/a[not(" * 500, "//" * 2000, "'", "/a\x00"):
        with pytest.raises(PathError):
            parse_path(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("//a[contains(b, 'x')]", "b[contains(., 'x')]"),
        ("//a[b != 'x']", "not(b = 'x')"),
        ("//a[b[@c != 'x' and d != 'y']]", "not(d = 'y')"),
        ("//a[@b < 'new']", "is never true"),
    ],
)
def test_traps_get_a_warning(text, words):
    (warning,) = path_warnings(parse_path(text))
    assert words in warning


@pytest.mark.parametrize("text", ["//a[contains(., 'x')]", "//a[@b != 'x']", "//a[@b < '3']", "//a[b = 'x']"])
def test_plain_paths_get_none(text):
    assert path_warnings(parse_path(text)) == []
