"""The machine with filters of the language, as servers will run it."""

from tests.overlay.networks import QUICK, Recording, assert_kept, journaled, server
from tests.strategies.filters import RICH
from tidings.language import Filter
from tidings.overlay.language_filters import LanguageFilters

LINE = {("a", "b"): 10.0, ("b", "c"): 10.0}


def parsed(text: str) -> Filter:
    return Filter.parse(text, RICH)


def test_interests_are_reduced_on_their_way_and_events_follow_them() -> None:
    made = Recording(LINE, LanguageFilters(RICH), 1, timing=QUICK)
    made.plan(
        [(8, "subscribe", "a", "wide", parsed("price < 20")), (8, "subscribe", "b", "narrow", parsed("price < 9"))]
    )
    for place, price in enumerate((5, 15, 25)):
        made.plan([(20 + place, "publish", "c", f"{price}", {"event_type": ("thing",), "price": (price,)})])
    made.run(45)
    assert_kept(made)
    assert server(made, "c").held["b"].filters == (parsed("price < 20"),)
    assert (journaled(made, "a"), journaled(made, "b")) == (["5", "15"], ["5"])
    assert made.carried.total() == 4  # the third went nowhere
