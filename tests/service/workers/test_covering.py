"""The quick look at the texts, before they are read, never passes over a filter that covers."""

from hypothesis import given
from hypothesis import strategies as st

from tests.service.example_store import SCHEMA
from tests.strategies.filters import catalogs, filter_texts
from tidings.language import Filter, covers
from tidings.schema import Catalog, json_form
from tidings.service.workers.covers import names_to_find


@given(catalog=catalogs(), data=st.data())
def test_what_covers_has_one_of_the_names(catalog: Catalog, data: st.DataObject) -> None:
    narrower = Filter.parse(data.draw(filter_texts(catalog)), catalog)
    wider = Filter.parse(data.draw(filter_texts(catalog, 2) | st.just(narrower.text)), catalog)
    if covers(wider, narrower, catalog):
        assert any(name in wider.text for name in names_to_find(narrower, catalog))


def test_a_filter_of_other_attributes_is_passed_over() -> None:
    catalog = json_form.read(SCHEMA.read_bytes())
    names = names_to_find(Filter.parse("price < 3 and not (year exists)", catalog), catalog)
    assert {"price", "year"} <= set(names)
    assert not any(name in "title contains 'oak'" for name in names)
