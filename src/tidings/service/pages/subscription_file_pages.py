"""/pages/subscriptions/import and …/export: a file of subscriptions, looked at before it is imported."""

from __future__ import annotations

import secrets
from collections import Counter

from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from tidings.errors import LanguageError, TidingsError
from tidings.service.actions.subscription_files import export_lines, read_lines
from tidings.service.actions.subscription_import import import_lines
from tidings.service.actions.subscription_lines import LineResult
from tidings.service.api.problems import status_of
from tidings.service.door.middleware import STREAMED
from tidings.service.pages.forms.form import Form, read_form
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.parts.render import render
from tidings.service.pages.subscription_pages import MINE
from tidings.service.pages.visitors import gateway_of, member

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_MOST_SHOWN = 100  # wrong lines on the page
_SHOWN = 200  # characters of a line


@router.get(f"{MINE}/import")
async def choosing(request: Request) -> Response:
    member(request)
    return _page(request, Form([("key", secrets.token_urlsafe(16))]))


@router.post(f"{MINE}/import")
async def import_file(request: Request) -> Response:
    """First what would be done is shown; `confirm` does it."""
    owner, form = member(request).owner, await read_form(request)
    gateway = gateway_of(request)
    done = form.has("confirm")
    try:
        text = form.exactly("lines").encode()
        lines = await gateway.read(read_lines, text)
        results = await import_lines(gateway, owner, lines, form.one("key") or None, check=not done)
    except TidingsError as error:
        return _page(request, form, problem=str(error), status=status_of(error))
    return _page(request, form, results, done, text)


@router.get(f"{MINE}/export")
async def export(request: Request) -> Response:
    owner = member(request).owner
    headers = {"Content-Disposition": 'attachment; filename="subscriptions.jsonl"'}
    return StreamingResponse(export_lines(gateway_of(request), owner), headers=headers, media_type=STREAMED[0])


def _page(
    request: Request,
    form: Form,
    results: list[LineResult] | None = None,
    done: bool = False,
    text: bytes = b"",
    problem: str = "",
    status: int = 200,
) -> Response:
    counts = Counter(one.status for one in results or ())
    wrong = [one for one in results or () if one.error is not None][:_MOST_SHOWN]
    lines = text.decode(errors="replace").split("\n")
    return render(
        request,
        "import.html",
        status,
        form=form,
        looked=results is not None,
        done=done,
        accepted=counts["accepted"],
        duplicates=counts["duplicate"],
        refused=counts["refused"],
        wrong=[(one.line, lines[one.line - 1][:_SHOWN], _why(one.error)) for one in wrong if one.error is not None],
        problem=problem,
    )


def _why(error: TidingsError) -> str:
    """Of a filter without its line, which would be taken for the file's."""
    return error.problem() if isinstance(error, LanguageError) else str(error)
