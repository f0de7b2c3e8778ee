"""An auction site on loopback whose pages a feed scrapes, as the thesis scraped eBay's cars.

`/` lists brands with their models, `/cars` the newest auctions. `AuctionSite` runs it in a thread of its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from tidings.feeds.samples.auction_items import MODELS, Item, item
from tidings.feeds.samples.loopback_server import LoopbackServer

PORT = 8181
RATE = 2.0  # new auctions a second
MOST_A_SECOND = 100
AT_START = 100
_BEFORE_ALL = 1_735_689_600  # seconds: 2025 began
_ON_A_PAGE = 100
_HEAD = '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>\n<body>\n'
_FOOT = "\n</body></html>\n"


def newest_at(now: float) -> int:
    """A number that no auction of an earlier start had: more go by each second than can be put up."""
    return int((now - _BEFORE_ALL) * MOST_A_SECOND)


class AuctionSite(LoopbackServer):
    """`with AuctionSite(port=0) as site: site.url`. Auctions are put up at a steady rate from the start on."""

    def __init__(
        self,
        port: int = PORT,
        *,
        rate: float = RATE,
        seed: int = 7,
        at_start: int = AT_START,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._rate, self._seed, self._at_start, self._clock = rate, seed, at_start, clock
        self._began = clock()
        super().__init__(ThreadingHTTPServer(("127.0.0.1", port), _pages(self)), "auction-site")

    @property
    def count(self) -> int:
        """Auctions so far; the newest has this number."""
        return self._at_start + int((self._clock() - self._began) * self._rate)

    def item(self, number: int) -> Item:
        moment = self._began + max(0, number - self._at_start) / self._rate if self._rate else self._began
        return item(self._seed, number, datetime.fromtimestamp(moment, UTC))

    def index_page(self) -> str:
        brands = "".join(
            f'<li class="brand"><b>{escape(brand)}</b><ul><li>{"</li><li>".join(map(escape, models))}</li></ul></li>\n'
            for brand, models in MODELS.items()
        )
        return (
            _HEAD.format(title="Cars by brand") + f'<ul id="brands">\n{brands}</ul><a href="/cars">newest</a>' + _FOOT
        )

    def cars_page(self, newest: int) -> str:
        """The auctions up to a number, newest first."""
        numbers = range(newest, max(0, newest - _ON_A_PAGE), -1)
        listed = "\n".join(_listing(self.item(number)) for number in numbers)
        older = newest - _ON_A_PAGE
        link = f'<a rel="next" href="/cars?newest={older}">older</a>' if older > 0 else ""
        return _HEAD.format(title="Cars") + f'<ol id="cars">\n{listed}\n</ol>{link}' + _FOOT


def _listing(car: Item) -> str:
    day = car.ends.strftime("%d %b %Y")
    return (
        f'<li class="item" data-number="{car.number}">'
        f'<h3><a href="/cars/{car.number}">{escape(car.title)}</a></h3>'
        f'<span class="brand">{escape(car.brand)}</span> '
        f'<span class="model">{escape(car.brand)} {escape(car.model)}</span> '
        f'<span class="year">{car.year}</span> <span class="price">US ${car.price:,.2f}</span> '
        f'<span class="miles">{car.miles:,} miles</span> <span class="paint">{escape(", ".join(car.paint))}</span> '
        f'<span class="condition">{car.condition.capitalize()}</span> <span class="bids">{car.bids} bids</span> '
        f'<time class="listed" datetime="{car.listed.isoformat(timespec="seconds")}">listed</time> '
        f'<time class="ends" datetime="{car.ends.isoformat(timespec="seconds")}">ends {day}</time></li>'
    )


def _pages(site: AuctionSite) -> type[BaseHTTPRequestHandler]:
    class Pages(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 30

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/":
                self._answer(site.index_page(), '"brands"')
            elif parts.path == "/cars":
                asked = parse_qs(parts.query).get("newest", [""])[0]
                newest = min(site.count, int(asked)) if asked.isdecimal() and len(asked) < 12 else site.count
                self._answer(site.cars_page(newest), f'"{newest}"')
            else:
                self.send_error(404)

        def _answer(self, page: str, tag: str) -> None:
            fresh = self.headers.get("If-None-Match") == tag
            body = b"" if fresh else page.encode()
            self.send_response(304 if fresh else 200)
            self.send_header("ETag", tag)
            if not fresh:
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """It is looked at every few seconds; nobody wants to read that."""

    return Pages
