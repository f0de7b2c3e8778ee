"""The subscriptions of the demo: each kind of predicate and each kind of delivery at least once, in readable filters,
and the story of an auction in composites.

`{auction}` is the number of a car that is up for sale when the demo starts, `{soon}` a time a day and a half later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

DEMO, ANN = "demo", "ann"
About = Literal["cars", "flights", "bids"]  # which feed it needs; the weather comes with the flights


@dataclass(frozen=True, slots=True)
class Wish:
    """`name` is for the demo's own notes. `hook` is a path of the demo's receiver; without one, matches are stored.
    A wish has a filter, or a composite and a `title` that its page shows."""

    name: str
    owner: str
    about: About
    filter: str = ""
    hook: str = ""
    rhythm: Mapping[str, Any] = field(default_factory=dict)
    paused: bool = False
    ends: bool = False  # tomorrow
    composite: str = ""
    title: str = ""


_DIGEST = {"digest": {"count": 20, "seconds": 60}}
_RATE = {"rate": {"count": 60, "seconds": 60}}
_QUIET = {"quiet": {"from": "22:00", "to": "07:00", "zone": "America/New_York"}}

# What a channel with a rate or quiet hours is owed waits, and never gets less: their filters must match rarely enough.
# What a disabled channel is owed waits for a day, and events that are owed are not removed: `gone` matches once.
WISHES = (
    # Cars: ranges, enumerations, the tree of brands and models, words, attributes against each other
    Wish("cheap-porsche", DEMO, "cars", "make = Porsche and asked < 20000"),
    Wish("old-mercedes", DEMO, "cars", "model under 'Mercedes-Benz' and built < 2000"),
    Wish("sensible", DEMO, "cars", "asked between 2000 and 6000 and state >= good and colour = blue"),
    Wish("red-and-mint", DEMO, "cars", "make not in (Volkswagen, Ford, Opel, BMW) and state = mint and colour = red"),
    Wish("barn-find", DEMO, "cars", "headline contains all 'barn find' and built <= 1995"),
    Wish("mini", DEMO, "cars", "make = Mini and not (headline contains all 'needs work')"),
    Wish("bargain", DEMO, "cars", "asked < miles and bids = 0 and state = mint and built > 2015 and make != Opel"),
    Wish(
        "youngtimer", DEMO, "cars", "event.source = 'auction-site' and built exists and built not between 1996 and 2040"
    ),
    Wish("ferrari", DEMO, "cars", "make = Ferrari", paused=True),
    Wish("bmw", DEMO, "cars", "make = BMW and asked >= 8000", hook="flaky"),
    Wish("golf", DEMO, "cars", "model = 'Volkswagen Golf'", hook="inbox", rhythm=_DIGEST),
    Wish("gone", DEMO, "cars", "event_type contains car_auction and event.id = '{auction}'", hook="gone"),
    Wish("two-tone", ANN, "cars", "colour contains red and colour contains white"),
    Wish(
        "not-black",
        ANN,
        "cars",
        "colour exists and not (colour contains black) and make != Volkswagen and asked > 40000",
    ),
    Wish("words", ANN, "cars", "headline contains any 'cooper clubman integrale testarossa'"),
    Wish("icons", ANN, "cars", "model = 'Citroën 2CV' or model = 'Citroën DS' or model = 'Jaguar E-Type'"),
    Wish("contested", ANN, "cars", "bids >= 40"),
    Wish("below-porsche", ANN, "cars", "model < Porsche and not (model = 'Porsche Boxster')"),
    Wish("last-call", ANN, "cars", "closes <= '{soon}' and bids = 0 and asked < 3000", ends=True),
    Wish("rare", ANN, "cars", "headline contains 'rare' and (make = Lancia or make = 'Aston Martin')"),
    Wish("dear", ANN, "cars", "asked > 150000", hook="inbox", rhythm=_RATE),
    # Flights and weather of New York
    Wish("late-at-jfk", DEMO, "flights", "origin = JFK and departure_delay > 60"),
    Wish("west-coast", DEMO, "flights", "destination in (SFO, LAX, SEA) and carrier = UA and departure_delay <= 0"),
    Wish("cancelled", DEMO, "flights", "event_type contains flight and not (departure_delay exists)", hook="inbox"),
    Wish("snow", DEMO, "flights", "temperature < 34 and precipitation > 0"),
    Wish("fog", DEMO, "flights", "visibility < 1"),
    Wish("pressure", DEMO, "flights", "pressure < 1000 or pressure > 1035"),
    Wish("very-late", DEMO, "flights", "departure_delay > 180", hook="inbox", rhythm=_RATE),
    Wish("tails", DEMO, "flights", "tail_number >= 'N99' and distance < 500"),
    Wish("made-up-time", ANN, "flights", "arrival_delay < departure_delay and departure_delay between 45 and 90"),
    Wish("far", ANN, "flights", "distance >= 2500 and air_time > 370"),
    Wish("small-carriers", ANN, "flights", "carrier in (HA, F9, YV, AS, FL, VX) and arrival_delay > 15"),
    Wish("hawaii", ANN, "flights", "destination = HNL", hook="inbox", rhythm=_QUIET),
    Wish("storm", ANN, "flights", "wind_gust > 35 or wind_speed > 28"),
    Wish("dew", ANN, "flights", "dew_point >= temperature"),
    Wish("north-west", ANN, "flights", "wind_direction between 300 and 340 and wind_speed >= 18"),
    Wish("la-guardia", ANN, "flights", "origin = LGA and (wind_speed > 20 or departure_delay > 120)"),
    Wish("calm", ANN, "flights", "origin exists and wind_speed <= 0 and event.time > '2026-01-01T00:00:00Z'"),
    # The saleroom, where a lot is open for a minute; so the last ten minutes of an auction are ten seconds here
    Wish(
        "three-bids",
        DEMO,
        "bids",
        title="Three bids by one bidder within an hour",
        composite="times([event_type contains bid], 3) within 1 h by bidder",
    ),
    Wish(
        "outbid",
        DEMO,
        "bids",
        title="Outbid within a minute",
        composite="[event_type contains bid] as mine before [event_type contains bid] as theirs within 1 min "
        "select all, first where theirs.bidder != mine.bidder and theirs.amount > mine.amount by auction",
    ),
    Wish(
        "no-late-bid",
        DEMO,
        "bids",
        title="No bid in the last ten seconds (scaled down from ten minutes) before the end",
        composite="[event_type contains last_call] before [event_type contains hammer] "
        "without [event_type contains bid] within 10 s by auction",
    ),
)
