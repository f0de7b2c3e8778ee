"""Which paths a grammar can never satisfy."""

import pytest

from tidings.paths.outline import unreachable
from tidings.paths.parser import parse_path
from tidings.schema.documents.grammar import Grammar
from tidings.schema.documents.rules import DocumentRules

DTD = Grammar(
    "dtd",
    "<!ELEMENT nitf (head?, body)><!ATTLIST nitf uno CDATA #IMPLIED><!ELEMENT head (title*)>"
    "<!ELEMENT title (#PCDATA)><!ELEMENT body (#PCDATA | p)*><!ELEMENT p (#PCDATA | p)*><!ELEMENT hr EMPTY>",
)
OUTLINE = DocumentRules(DTD, "nitf").outline


@pytest.mark.parametrize(
    "path",
    ["/nitf/head/title", "//title", "//p/p/p", "/nitf/@uno", "//@uno", "//p/text()", "/*/*", "//p[p/p]",
     "//p[titel or p]", "//p[not(titel)]"],
)  # fmt: skip
def test_what_a_document_may_have(path):
    assert OUTLINE is not None
    assert unreachable(parse_path(path), OUTLINE) is None


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("//titel", "did you mean 'title'?"),
        ("/head", "no element 'head' there"),
        ("/nitf/title", "no element 'title' there"),
        ("/nitf/@uni", "did you mean 'uno'?"),
        ("//body//title", "no element 'title'"),
        ("//p[p/titel]", "no element 'titel'"),
        ("//p[@uno = '1']", "no attribute 'uno'"),
        ("/nitf/head/title/*", "no element there"),
    ],
)
def test_what_none_can_have(path, hint):
    assert OUTLINE is not None
    assert hint in str(unreachable(parse_path(path), OUTLINE))
