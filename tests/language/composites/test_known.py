"""What was accepted before is bound without checks, to the same."""

from __future__ import annotations

import pytest

from tests.docs.pages import code, rows
from tests.strategies.composites import AUCTIONS
from tidings.language.composites import BoundComposite

TEXTS = [code(row[0]) or "" for row in rows("docs/composites.md", "composite")]


@pytest.mark.parametrize("text", TEXTS)
def test_a_known_text_gives_the_same_composite(text: str) -> None:
    parsed = BoundComposite.parse(text, AUCTIONS)
    known = BoundComposite.known(parsed.text, AUCTIONS)
    assert known == parsed
    assert known.filters == parsed.filters
    assert [one.conjunctions for one in known.filters] == [one.conjunctions for one in parsed.filters]
    assert known.text == parsed.text
