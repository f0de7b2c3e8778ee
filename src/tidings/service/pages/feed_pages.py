"""/pages/feeds: from a file to a mapping: the guesses, a form to correct them, and their effect on the first records.

The page keeps nothing at the server: the beginning of the file travels with the form, and is parsed by the processes of
`inquiries` alone."""

from __future__ import annotations

import json
import re
from pathlib import PurePosixPath
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from tidings.errors import SchemaError
from tidings.feeds.errors import FeedError
from tidings.schema import Kind, json_form
from tidings.service.actions import schema
from tidings.service.api.requests import questions_of
from tidings.service.door.scope_check import allow
from tidings.service.pages.forms.form import Form, read_form
from tidings.service.pages.forms.waiting_form import typed
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.parts.render import render
from tidings.service.pages.visitors import gateway_of, member, visitor
from tidings.service.workers.feed_guess import FLAGS, KEYS, FeedGuess, Sample
from tidings.service.workers.inquiries import TookTooLong

router = APIRouter(route_class=PageRoute, include_in_schema=False)

FEEDS = "/pages/feeds"
LARGEST = 512 << 10  # characters of a file that the page looks at
_MOST_FIELDS = 200


@router.get(FEEDS)
async def asking(request: Request) -> Response:
    return _page(request, typed(request, FEEDS) or Form([]))


@router.post(FEEDS)
async def guess(request: Request) -> Response:
    form = await read_form(request)
    text, place = form.exactly("sample"), form.one("place") or "feed"
    if not text.strip():
        return _page(request, form, problem="choose a file or paste its beginning", status=422)
    if len(text) > LARGEST:
        return _page(request, form, problem=f"at most {LARGEST:,} characters; paste only the beginning", status=422)
    questions = await questions_of(request)
    corrected = form.has("guessed") and not form.has("afresh")
    id, time = (form.one(key) if corrected and form.has(key) else None for key in ("id", "time"))
    sample = Sample(text, place, form.one("event_type"), id, time)
    try:
        made = await questions.guess_feed(member(request).username, sample, _answers(form))
    except (FeedError, SchemaError) as error:
        return _page(request, form, problem=str(error), status=422)
    except TookTooLong:
        return _page(request, form, problem="it took too long to read; try a smaller part of the file", status=503)
    act = form.one("result")
    if made.mapping and act == "mapping":
        return _download(made.mapping.encode(), "application/toml", f"{_stem(place)}.toml")
    if made.mapping and act == "changes":
        lines = "".join(json.dumps(json_form.write_change(one)) + "\n" for one in made.changes)
        return _download(lines.encode(), "application/x-ndjson", f"{_stem(place)}-schema.jsonl")
    applied = False
    if made.mapping and act == "apply" and made.changes:
        allow(visitor(request), "schema")
        try:
            await schema.grow(gateway_of(request), made.changes)
        except SchemaError as error:
            return _page(request, form, made, str(error), status=422)
        applied = True
    return _page(request, form, made, applied=applied)


def _answers(form: Form) -> dict[int, dict[str, Any]] | None:
    """What the form says of each field; None where the guess has not been shown yet."""
    if not form.has("guessed") or form.has("afresh"):
        return None
    answers: dict[int, dict[str, Any]] = {}
    for number in range(min(_MOST_FIELDS, _count(form))):
        said: dict[str, Any] = {key: form.exactly(f"{key}{number}") for key in KEYS if form.has(f"{key}{number}")}
        said |= {flag: form.has(f"{flag}{number}") for flag in FLAGS}
        answers[number] = {"skip": True} if not form.has(f"keep{number}") else said
    return answers


def _count(form: Form) -> int:
    text = form.one("guessed")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 5 else 0


def _page(
    request: Request,
    form: Form,
    made: FeedGuess | None = None,
    problem: str = "",
    *,
    applied: bool = False,
    status: int = 200,
) -> Response:
    template = "feed_effect.html" if form.has("piece") else "feeds.html"
    return render(
        request,
        template,
        status,
        form=form,
        guess=made,
        problem=problem,
        applied=applied,
        place=form.one("place"),
        stem=_stem(form.one("place")),
        largest=LARGEST,
        kinds=[str(kind) for kind in Kind],
    )


def _download(body: bytes, media_type: str, name: str) -> Response:
    return Response(body, 200, {"Content-Disposition": f'attachment; filename="{name}"'}, media_type)


def _stem(place: str) -> str:
    """A name that is safe in a header: only letters, digits and hyphens."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", PurePosixPath(place.partition("?")[0]).stem).strip("-")[:60] or "feed"
