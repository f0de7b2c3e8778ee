"""Distances and regions on the earth, a sphere of radius 6,371.0088 km. Matchers compile these functions, so that all
get the same answer."""

from __future__ import annotations

import math
from typing import NamedTuple

RADIUS = 6_371_008.8  # metres
METRES = {"m": 1.0, "km": 1_000.0, "mi": 1_609.344}
_MARGIN = 1e-6  # degrees: more than rounding can move the edge of a circle


def distance(latitude: float, longitude: float, other_latitude: float, other_longitude: float) -> float:
    """In metres, along the surface (haversine)."""
    one, other = math.radians(latitude), math.radians(other_latitude)
    north = math.sin((other - one) / 2)
    east = math.sin(math.radians(other_longitude - longitude) / 2)
    half = north * north + math.cos(one) * math.cos(other) * east * east
    return 2 * RADIUS * math.asin(math.sqrt(min(1.0, half)))


def is_inside(latitude: float, longitude: float, south: float, west: float, north: float, east: float) -> bool:
    """Edges included. A pole has every longitude; the date line is both -180 and 180."""
    if latitude < south or latitude > north:
        return False
    if latitude == 90.0 or latitude == -90.0:
        return True
    if west > east:
        return longitude >= west or longitude <= east
    return west <= longitude <= east or (longitude == 180.0 and west == -180.0)


class Bounds(NamedTuple):
    """A region lies between these latitudes, and between one of these pairs of longitudes, all included; none: any."""

    south: float
    north: float
    longitudes: tuple[tuple[float, float], ...]


def bounds_of_circle(latitude: float, longitude: float, metres: float) -> Bounds:
    reach = math.degrees(metres / RADIUS) + _MARGIN
    south, north = latitude - reach, latitude + reach
    if south <= -90 or north >= 90:
        return Bounds(south, north, ())
    sine = math.sin(math.radians(reach)) / math.cos(math.radians(latitude))
    if sine >= 1:
        return Bounds(south, north, ())
    width = math.degrees(math.asin(sine)) + _MARGIN
    return Bounds(south, north, _around(longitude - width, longitude + width))


def bounds_of_box(south: float, west: float, north: float, east: float) -> Bounds:
    if south <= -90 or north >= 90:
        return Bounds(south, north, ())
    return Bounds(south, north, ((-180, east), (west, 180)) if west > east else _around(west, east))


def _around(west: float, east: float) -> tuple[tuple[float, float], ...]:
    """Longitudes from west to east, of which one may lie beyond the date line; 180 stands for -180 too."""
    if east - west >= 360:
        return ()
    if west <= -180:
        return ((-180, east), (west + 360, 180))
    if east > 180:
        return ((-180, east - 360), (west, 180))
    return ((west, east),)
