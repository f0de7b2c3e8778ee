"""/pages/network: the network as this server knows it, drawn as an SVG."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from tidings.network.local_door import NetworkAway
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.parts.render import render
from tidings.service.pages.visitors import gateway_of

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_WIDTH, _HEIGHT = 640, 400
_EDGE = 60
_LONGEST_LABEL = 14
_MOST_DRAWN = 60  # servers


@dataclass(frozen=True, slots=True)
class Dot:
    name: str
    x: float
    y: float
    kind: str  # own, reached or lost

    @property
    def label(self) -> str:
        """What has room beside the edge."""
        return self.name if len(self.name) <= _LONGEST_LABEL else self.name[: _LONGEST_LABEL - 1] + "…"


@dataclass(frozen=True, slots=True)
class Line:
    x1: float
    y1: float
    x2: float
    y2: float
    in_tree: bool


@dataclass(frozen=True, slots=True)
class Drawing:
    dots: tuple[Dot, ...]
    lines: tuple[Line, ...]
    summary: str
    width: int = _WIDTH
    height: int = _HEIGHT


@router.get("/pages/network")
async def network(request: Request) -> Response:
    gateway = gateway_of(request)
    found: dict[str, Any] | None = None
    if gateway.network is not None:
        try:
            found = await gateway.network.describe()
        except NetworkAway:
            found = None
    drawing = None if found is None else drawn(found)
    return render(request, "network.html", found=found, drawing=drawing, named=gateway.network is not None)


def drawn(found: dict[str, Any]) -> Drawing:
    """Servers on a circle, this one on top; links between them, those of the tree strong."""
    servers = sorted(found["servers"], key=lambda one: (one["name"] != found["name"], one["name"]))[:_MOST_DRAWN]
    places = {}
    dots = []
    for number, one in enumerate(servers):
        angle = 2 * pi * number / len(servers) - pi / 2
        x = _WIDTH / 2 + (_WIDTH / 2 - _EDGE) * sin(angle + pi / 2)
        y = _HEIGHT / 2 - (_HEIGHT / 2 - _EDGE) * cos(angle + pi / 2)
        places[one["name"]] = round(x, 1), round(y, 1)
        kind = "own" if one["name"] == found["name"] else "reached" if one["reached"] else "lost"
        dots.append(Dot(one["name"], *places[one["name"]], kind))
    tree = {tuple(link) for link in found["tree"]}
    mutual = [one["servers"] for one in found["mutual"]]
    links = [(left, right) for left, right in mutual if left in places and right in places]
    lines = tuple(Line(*places[left], *places[right], (left, right) in tree) for left, right in links)
    summary = f"{len(found['servers'])} servers, {len(links)} links, {len(tree)} of them in the tree"
    return Drawing(tuple(dots), lines, summary)
