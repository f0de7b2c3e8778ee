"""Jaxen's suite of XPath 1.0: what is within the subset gives what the suite says, and the rest is refused by name."""

from collections import Counter

from lxml import etree

from tests.documents.index.test_path_index import matched
from tests.feeds.real_files import real_file
from tidings.documents.index.path_index import PathIndex
from tidings.paths.errors import PathSyntax, UnknownPrefix, UnsupportedPath
from tidings.paths.parser import parse_path

SUITE = "suite-jaxen-xpath/xml/"


def test_every_case():
    cases = etree.parse(real_file(SUITE + "test/tests.xml"))
    counted = Counter()
    for section in cases.getroot().iterchildren("document"):
        tree = etree.parse(real_file(SUITE + section.get("url").removeprefix("xml/"))).getroot()
        document = etree.tostring(tree)  # without declarations of its own
        for case in section.iter("test", "valueOf"):
            text = case.get("select")
            prefixes = {prefix: space for prefix, space in case.nsmap.items() if prefix}
            try:
                path = parse_path(text, prefixes)
            except UnsupportedPath as refused:
                counted["outside" if refused.construct else "not named"] += 1
                continue
            except (PathSyntax, UnknownPrefix):
                assert case.get("exception") == "true", text
                counted["wrong"] += 1
                continue
            index = PathIndex()
            index.add(7, path)
            held = matched(index, [document]) == [{7}]
            assert held == etree.XPath(f"boolean({text})", namespaces=prefixes)(tree), text
            if case.get("count") is not None:
                assert held == (case.get("count") != "0"), text
            counted["within"] += 1
    assert counted == {"within": 45, "outside": 247, "wrong": 4}
