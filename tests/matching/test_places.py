"""Places with drawn coordinates, most of them at the date line and the poles: every algorithm equals the naive one, and
the naive one equals the angle between two vectors."""

import math

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tests.matching.test_every_algorithm import answers
from tidings.events import EventBatch, validate
from tidings.language import Filter, Subscription
from tidings.matching.algorithms import ALGORITHMS, make_matcher
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Kind

CATALOG = Catalog(
    (Domain("points", Kind.PLACE),),
    (Attribute("spot", "points"),),
    (EventType("quake", (AttributeUse("spot", mandatory=True, unique=True),)),),
)
KILOMETRES = 6_371.0088  # the radius of the earth
UNCERTAIN = 1e-3  # km: where a vector's angle and a haversine may differ

latitudes = st.one_of(
    st.sampled_from((-90.0, 90.0, 0.0)), st.floats(89, 90), st.floats(-90, -89), st.floats(-90, 90)
).map(lambda degrees: round(degrees, 4))
longitudes = st.one_of(
    st.sampled_from((-180.0, 180.0, 0.0)), st.floats(179, 180), st.floats(-180, -179), st.floats(-180, 180)
).map(lambda degrees: round(degrees, 4))
points = st.tuples(latitudes, longitudes)
Point = tuple[float, float]


def kilometres(one: Point, other: Point) -> float:
    """By the angle between two vectors, computed from their cross and dot product, which is exact also where small."""
    a, b = _vector(one), _vector(other)
    cross = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    return KILOMETRES * math.atan2(math.hypot(*cross), sum(x * y for x, y in zip(a, b, strict=True)))


def _vector(point: Point) -> tuple[float, float, float]:
    north, east = map(math.radians, point)
    return math.cos(north) * math.cos(east), math.cos(north) * math.sin(east), math.sin(north)


def matched(name: str, text: str, made: list[Point]) -> list[bool]:
    matcher = make_matcher(name, CATALOG)
    matcher.add(Subscription("s", Filter.parse(text, CATALOG)), 0)
    raw = [{"id": f"e{n}", "event_type": "quake", "attributes": {"spot": list(one)}} for n, one in enumerate(made)]
    batch = EventBatch.of([validate(one, CATALOG) for one in raw], CATALOG)
    return [bool(found) for found in answers(matcher, batch)]


@pytest.mark.parametrize("name", ALGORITHMS)
@settings(max_examples=40)
@given(centre=points, radius=st.one_of(st.floats(0.1, 300), st.floats(0.1, 20_020)), made=st.lists(points, min_size=1))
@example(centre=(-17.7, 179.9), radius=50.0, made=[(-17.7, -179.9), (-17.7, 179.5), (-17.7, -179.0)])
@example(centre=(89.9, 0.0), radius=30.0, made=[(89.9, 180.0), (90.0, 77.0), (89.5, 180.0), (-89.9, 0.0)])
def test_near_is_the_distance_on_a_sphere(name: str, centre: Point, radius: float, made: list[Point]) -> None:
    radius = round(radius, 3)
    distances = [kilometres(centre, one) for one in made]
    assume(all(abs(one - radius) > UNCERTAIN for one in distances))
    text = f"spot near ({centre[0]}, {centre[1]}) within {radius} km"
    assert matched(name, text, made) == [one <= radius for one in distances]


@pytest.mark.parametrize("name", ALGORITHMS)
@settings(max_examples=40)
@given(corner=points, opposite=points, made=st.lists(points, min_size=1))
@example(corner=(-20.0, 178.0), opposite=(1.0, -179.0), made=[(0.0, 180.0), (0.0, -179.5), (0.0, 177.9), (0.0, 0.0)])
def test_a_box_may_cross_the_date_line(name: str, corner: Point, opposite: Point, made: list[Point]) -> None:
    (south, west), (north, east) = corner, opposite
    assume(south <= north)

    def holds(point: Point) -> bool:
        latitude, longitude = point
        if not south <= latitude <= north:
            return False
        if abs(latitude) == 90:  # where all meridians meet
            return True
        for meridian in (longitude, -180.0 if longitude == 180 else 180.0 if longitude == -180 else longitude):
            if west <= meridian <= east if west <= east else meridian >= west or meridian <= east:
                return True
        return False

    text = f"spot inside ({south}, {west}, {north}, {east})"
    assert matched(name, text, made) == [holds(one) for one in made]
