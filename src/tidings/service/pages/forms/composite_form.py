"""The form for a composite: empty or filled in, tried on recent events, or with its errors; and its pictures."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from tidings.errors import LanguageError, ServiceError, TidingsError
from tidings.language.composites import BoundComposite
from tidings.language.composites.tree import Composite
from tidings.service.actions.filters import read_composite
from tidings.service.api.problems import status_of
from tidings.service.api.requests import questions_of
from tidings.service.gateway import Gateway
from tidings.service.pages.forms.channel_form import channel_fields
from tidings.service.pages.forms.composite_builder import SHAPES, UNITS, Builder
from tidings.service.pages.forms.filter_form import problem_fields
from tidings.service.pages.forms.form import Form
from tidings.service.pages.parts.render import render, templates
from tidings.service.pages.parts.timeline import DetectionPicture, detection_picture, picture
from tidings.service.pages.visitors import gateway_of, visitor
from tidings.service.workers.composite_trial import CompositeTried, TriedDetection, TriedEvent
from tidings.store import Standing
from tidings.store.pages.recent import decoded

_LAST = 10_000  # positions that a composite is tried on while it is written
_SHOWN = 3


async def checked_composite(request: Request, owner: str, standing: Standing | None, form: Form) -> Response:
    """For a browser without scripts: the same page, with the text that the builder makes, and what it would have
    detected."""
    if form.has("build"):
        form = form.replaced("text", Builder.of(form).text())
    try:
        tried = await try_on_newest(request, owner, form.one("text"))
    except (LanguageError, ServiceError) as error:
        return await wrong_composite(request, standing, form, error)
    return await composite_form(request, standing, form.replaced("text", tried.composite), tried=tried)


async def wrong_composite(request: Request, standing: Standing | None, form: Form, error: TidingsError) -> Response:
    """Raises NoSuchSubscription, which no field can put right."""
    errors, place = problem_fields(error, form)
    return await composite_form(request, standing, form, errors, place, status=status_of(error))


async def composite_form(
    request: Request,
    standing: Standing | None,
    form: Form,
    errors: dict[str, str] | None = None,
    place: str = "",
    tried: CompositeTried | None = None,
    status: int = 200,
) -> Response:
    """`standing`: the subscription that is edited; its channel has a page of its own."""
    errors, gateway = errors or {}, gateway_of(request)
    catalog = await gateway.read(gateway.store.catalog)
    found = None if "text" in errors else await gateway.bind(visitor(request).owner, _bound, form.one("text"), gateway)
    return render(
        request,
        "composite.html",
        status,
        standing=standing,
        form=form,
        errors=errors,
        picture=place,
        pattern="" if found is None else pattern_of(found.composite),
        warnings=() if found is None else found.warnings,
        would_detect=would_detect(request, tried),
        builder=Builder.of(form),
        shapes=SHAPES,
        units=UNITS,
        attributes=sorted(one.name for one in catalog.attributes),
        **channel_fields(request, form, errors),
    )


async def try_on_newest(request: Request, owner: str, text: str) -> CompositeTried:
    """Raises LanguageError."""
    questions, now = await questions_of(request), gateway_of(request).store.clock.now()
    return await questions.try_composite(owner, text, None, now, _SHOWN, last=_LAST)


def would_detect(request: Request, tried: CompositeTried | None) -> Markup:
    """What a composite would have detected, with the newest detections on their timelines, as a piece of its page."""
    if tried is None:
        return Markup("")
    seen = [(one, _drawn(one), [(event, _decoded(event)) for event in one.events]) for one in tried.newest]
    catalog = gateway_of(request).store.known_catalog
    template = templates().get_template("would_detect.html")
    return Markup(template.render(tried=tried, seen=seen, catalog=catalog))


def pattern_of(composite: Composite) -> Markup:
    """The picture of a composite, as a piece of a page."""
    return Markup(templates().get_template("pattern.html").render(pattern=picture(composite)))


def stored_pattern(text: str, gateway: Gateway) -> Markup:
    """Of a subscription's text; '' where it cannot be read any more. It takes its time: call it in a thread."""
    found = _bound(text, gateway)
    return Markup("") if found is None else pattern_of(found.composite)


def _bound(text: str, gateway: Gateway) -> BoundComposite | None:
    if not text.strip():
        return None
    try:
        return read_composite(text, gateway.store)
    except LanguageError:
        return None


def _drawn(one: TriedDetection) -> DetectionPicture:
    return detection_picture([event.key.time for event in one.events], one.time, bool(one.expired))


def _decoded(event: TriedEvent) -> dict[str, Any] | None:
    return None if event.stored is None else decoded(event.stored.payload)
