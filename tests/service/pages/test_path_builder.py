"""What the builder offers for a path into documents: from the grammar, else from recent documents."""

from __future__ import annotations

from typing import Any

import pytest

from tidings.paths.parser import parse_path
from tidings.schema.documents.grammar import Grammar
from tidings.schema.documents.rules import DocumentRules
from tidings.service.pages.forms.path_builder import path_offers

DTD = """<!ELEMENT news (head, body*)> <!ELEMENT head (title+)> <!ELEMENT title (#PCDATA)>
<!ELEMENT body (p | quote)*> <!ELEMENT p (#PCDATA)> <!ELEMENT quote (p*)>
<!ATTLIST news code CDATA #IMPLIED> <!ATTLIST title lang CDATA #IMPLIED size CDATA #IMPLIED>"""
XSD = """<schema xmlns="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:n" elementFormDefault="{form}">
<element name="news"><complexType><sequence><element name="title" type="string"/></sequence>
<attribute name="code"/></complexType></element></schema>"""
OF_DTD = DocumentRules(Grammar("dtd", DTD), "news")


def _offered(path: str, rules: DocumentRules, *documents: str) -> dict[str, list[str]]:
    groups = path_offers(path, rules, documents)["groups"]
    return {group["name"]: [one["name"] for one in group["options"]] for group in groups}


def test_a_grammar_tells_what_may_come_next() -> None:
    assert _offered("", OF_DTD) == {
        "Anywhere": ["body", "head", "news", "p", "quote", "title"],
        "At the top": ["news"],
    }
    assert _offered("/news", OF_DTD) == {
        "Elements in it": ["body", "head"],
        "Elements anywhere below it": ["p", "quote", "title"],
        "Attributes": ["@code"],
    }
    assert _offered("//body//quote", OF_DTD) == {"Elements in it": ["p"]}
    assert _offered("//title[@size > 3]", OF_DTD) == {"Attributes": ["@size"]}
    assert _offered("//title/@size", OF_DTD) == {}
    assert _offered("//*/title", OF_DTD) == {"Attributes": ["@size"]}


def test_each_offer_is_a_whole_path_that_is_read_as_it_is() -> None:
    waiting, seen = [""], set[str]()
    while waiting:
        told = path_offers(waiting.pop(), OF_DTD)
        for one in (one for group in told["groups"] for one in group["options"]):
            parse_path(one["path"])
            if one["path"] not in seen and one["path"].count("/") < 5:
                seen.add(one["path"])
                waiting.append(one["path"])
    assert "/news/body/quote/p" in seen


def test_the_last_step_can_be_taken_back_and_conditions_be_added() -> None:
    told = path_offers("//head[title]/title", OF_DTD)
    assert told["shorter"] == "//head[title]"
    assert path_offers("/news", OF_DTD)["shorter"] == ""
    assert path_offers("", OF_DTD)["shorter"] is None
    assert path_offers("", OF_DTD)["tests"] == []
    for one in told["tests"]:
        literal = "3" if one["number"] else "'it is'"
        parse_path(one["before"] + literal + one["after"])
    assert told["tests"][0]["before"] == "//head[title]/title[. = "


@pytest.mark.parametrize(
    ("form", "prefixes", "offered"),
    [
        ("qualified", (("n", "urn:n"),), ["n:news", "n:title"]),
        ("unqualified", (("n", "urn:n"),), ["n:news", "title"]),
        ("qualified", (("", "urn:n"),), ["news", "title"]),
        ("qualified", (), []),
    ],
)
def test_the_names_of_an_xsd_have_the_prefix_of_their_namespace(form: str, prefixes: Any, offered: list[str]) -> None:
    rules = DocumentRules(Grammar("xsd", XSD.format(form=form)), namespaces=prefixes)
    assert _offered("", rules).get("Anywhere", []) == offered
    if offered:
        assert "@code" in _offered(f"/{offered[0]}", rules)["Attributes"]


def test_without_a_grammar_recent_documents_tell() -> None:
    rules = DocumentRules(namespaces=(("n", "urn:n"),))
    assert path_offers("", rules)["groups"] == []
    documents = (
        '<a xmlns:x="urn:n"><x:b k="1" x:m="2" xml:lang="en"/></a>',
        '<a><b><c/></b><d xmlns="urn:nameless"/></a>',
        "not a document",
    )
    told = path_offers("", rules, documents)
    assert told["told"] == "from recent documents"
    assert _offered("", rules, *documents)["Anywhere"] == ["a", "b", "c", "n:b"]
    assert _offered("/a", rules, *documents) == {
        "Elements in it": ["b", "n:b"],
        "Elements anywhere below it": ["c"],
    }
    assert _offered("/a/n:b", rules, *documents)["Attributes"] == ["@k", "@n:m", "@xml:lang"]


def test_a_path_that_is_not_complete_has_no_offers() -> None:
    for path in ("//title[", "title", "//x:y", "/a/b/../c"):
        assert path_offers(path, OF_DTD) == {"groups": [], "tests": [], "shorter": None, "told": ""}


def test_large_documents_and_many_names_are_bounded() -> None:
    many = "<a>" + "".join(f"<e{number}/>" for number in range(1_000)) + "</a>"
    assert len(_offered("/a", DocumentRules(), many)["Elements in it"]) == 300
    assert _offered("", DocumentRules(), "<a>" + "x" * 300_000 + "</a>") == {}
