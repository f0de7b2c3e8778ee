"""Pictures of every page, light and dark, on a desk and on a phone, from a service that lives:
`python -m tests.browser.screenshots --output docs/images/pages`."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.conftest import CHROMIUM
from tests.browser.living import FILTERS, Living, living
from tests.service.conftest import PASSWORD

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SIZES = {"desktop": (1280, 860), "phone": (390, 844)}
SCHEMES = ("light", "dark")
TALLEST = 2_000
OLD_NAMES = ("home", "publish", "schema", "subscribe", "subscription", "subscriptions")  # light, on a desk
WARM_UP = 60.0  # seconds of events before the first picture


@dataclass(frozen=True)
class Shot:
    """`who` looks: nobody, ann or the operator. `before` does what is to be seen."""

    name: str
    path: str
    who: str = "ann"
    before: Callable[[Page], object] = lambda page: None


def shots(service: Living) -> list[Shot]:
    mine = "/pages/subscriptions"
    first, _, disabled, *_ = service.subscriptions
    position = service.newest_match(first)
    return [
        Shot("welcome", "/", "nobody"),
        Shot("login", "/pages/login", "nobody"),
        Shot("register", "/pages/register", "nobody", _register_wrongly),
        Shot("home", "/"),
        Shot("schema", "/pages/schema", before=_open_trees),
        Shot("history", "/pages/schema/history"),
        Shot("grow-domain", "/pages/schema/grow/domain", before=_grow_domain),
        Shot("grow-attribute", "/pages/schema/grow/attribute"),
        Shot("grow-event-type", "/pages/schema/grow/event-type"),
        Shot("grow-extension", "/pages/schema/grow/extension"),
        Shot("grow-value", "/pages/schema/grow/value?domain=category"),
        Shot("publish-types", "/pages/publish"),
        Shot("publish", "/pages/publish?type=car&type=auction", before=_fill_event),
        Shot("publish-refused", "/pages/publish?type=car", before=_refused_event),
        Shot("search", "/pages/events?type=car"),
        Shot("event", f"/pages/events/{position}"),
        Shot("subscriptions", mine),
        Shot("subscribe", f"{mine}/new", before=_build),
        Shot("subscribe-wrong", f"{mine}/new", before=_build_wrongly),
        Shot("subscription", f"{mine}/{first}", before=_ask_why),
        Shot("edit", f"{mine}/{first}/edit", before=_wait_for_count),
        Shot("why", f"{mine}/{first}/why/{position}"),
        Shot("channel", f"{mine}/{first}/channel"),
        Shot("deliveries", f"{mine}/{first}/deliveries", before=_open_first),
        Shot("deliveries-disabled", f"{mine}/{disabled}/deliveries"),
        Shot("notices", "/pages/notices"),
        Shot("account", "/pages/account"),
        Shot("operator", "/pages/operator", "operator"),
        Shot("not-found", "/pages/nowhere"),
    ]


def _register_wrongly(page: Page) -> None:
    page.fill("#username", "ann")
    page.fill("#password", PASSWORD)
    page.fill("#again", "something else")
    page.click("main button")
    page.wait_for_selector(".wrong")


def _open_trees(page: Page) -> None:
    for summary in page.locator(".tree summary").all():
        if summary.is_visible():
            summary.click()


def _grow_domain(page: Page) -> None:
    page.fill("#name", "auction house")
    page.select_option("#kind", "hierarchical")
    page.fill("#tree", "europe\n  london\n  vienna\namerica\n  new york")
    page.wait_for_selector("[data-told]:not(:empty)")


def _fill_event(page: Page) -> None:
    page.get_by_label("title").first.fill("Red Mini, one owner")
    page.get_by_label("price").first.fill("900")


def _refused_event(page: Page) -> None:
    page.get_by_label("year").first.fill("1971")
    page.evaluate("document.querySelectorAll('main form').forEach((form) => { form.noValidate = true; })")
    page.click("main button:has-text('Publish')")
    page.wait_for_selector(".wrong")


def _build(page: Page) -> None:
    page.wait_for_selector(".brow")
    page.fill("#text", FILTERS[2] + " or category under furniture and price < 200")
    page.wait_for_selector("#count strong")


def _wait_for_count(page: Page) -> None:
    page.wait_for_selector(".brow")
    page.wait_for_selector("#count strong")


def _build_wrongly(page: Page) -> None:
    page.wait_for_selector(".brow")
    page.fill("#text", "brand = mini and prise > 3")
    page.wait_for_selector(".caret")


def _ask_why(page: Page) -> None:
    page.locator("[data-why]").first.click()
    page.wait_for_selector(".reasons")
    page.wait_for_selector(".live.on")


def _open_first(page: Page) -> None:
    page.locator(".list details summary:has-text('failed')").first.click()


def take(service: Living, browser: Browser, output: Path, only: list[str]) -> None:
    all_shots = shots(service)
    states = {"nobody": None, "ann": _state(service, browser, _by_password)}
    states["operator"] = _state(service, browser, lambda page: _by_token(page, service.operator))
    for size, (width, height) in SIZES.items():
        for scheme in SCHEMES:
            for who, state in states.items():
                context = browser.new_context(
                    viewport={"width": width, "height": height},
                    color_scheme=scheme,  # type: ignore[arg-type]
                    base_url=service.address,
                    storage_state=state,  # type: ignore[arg-type]
                )
                page = context.new_page()
                for shot in all_shots:
                    if shot.who != who or (only and shot.name not in only):
                        continue
                    page.goto(shot.path)
                    shot.before(page)
                    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
                    page.mouse.move(0, 0)
                    page.wait_for_timeout(200)
                    tall = min(TALLEST, max(height, page.evaluate("document.documentElement.scrollHeight")))
                    clip = {"x": 0, "y": 0, "width": width, "height": tall}
                    picture = small(page.screenshot(full_page=True, clip=clip, animations="disabled"))  # type: ignore[arg-type]
                    (output / f"{shot.name}-{size}-{scheme}.png").write_bytes(picture)
                    if shot.name in OLD_NAMES and (size, scheme) == ("desktop", "light"):
                        (output / f"{shot.name}.png").write_bytes(picture)
                context.close()


def _state(service: Living, browser: Browser, log_in: Callable[[Page], None]) -> object:
    context = browser.new_context(base_url=service.address)
    page = context.new_page()
    page.goto("/pages/login")
    log_in(page)
    page.wait_for_selector("text=Log out")
    state = context.storage_state()
    context.close()
    return state


def _by_password(page: Page) -> None:
    page.fill("#username", "ann")
    page.fill("#password", PASSWORD)
    page.press("#password", "Enter")


def _by_token(page: Page, token: str) -> None:
    page.click("summary:has-text('token')")
    page.fill("#token", token)
    page.press("#token", "Enter")


def small(picture: bytes) -> bytes:
    """With a palette of its own, where Pillow is installed: a third of the size. What is frequent keeps its colour,
    and what is rare, as a link, gets the nearest of a wide choice."""
    try:
        from PIL import Image
    except ImportError:
        return picture
    made = BytesIO()
    with Image.open(BytesIO(picture)) as image:
        image = image.convert("RGB")
        counted = sorted(image.getcolors(image.width * image.height) or [], reverse=True)
        frequent = [level for _, colour in counted[:160] for level in colour]  # type: ignore[union-attr]
        wide = image.quantize(96, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).getpalette() or []
        palette = Image.new("P", (1, 1))
        palette.putpalette((frequent + wide)[:768])
        image.quantize(palette=palette, dither=Image.Dither.NONE).save(made, "PNG", optimize=True)
    return min(made.getvalue(), picture, key=len)


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True, help="the folder for the pictures")
    parser.add_argument("--only", nargs="*", default=[], help="names of pages; all where none is given")
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        living(Path(folder), WARM_UP) as service,
        sync_playwright() as running,
    ):
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = running.chromium.launch(executable_path=CHROMIUM, args=arguments)
        take(service, browser, given.output, given.only)
        browser.close()


if __name__ == "__main__":
    main()
