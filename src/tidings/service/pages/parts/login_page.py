"""The page to log in on: asked for, led to, or in the place of a form whose sender has no session any more."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from tidings.service.pages.forms.kept_form import KeptForm
from tidings.service.pages.parts.render import render
from tidings.service.pages.visitors import safe_next


def login_page(
    request: Request,
    next: str,
    username: str = "",
    errors: Mapping[str, str] | None = None,
    *,
    kept: KeptForm | None = None,
    ended: bool = False,
    status: int = 200,
) -> Response:
    """`kept` is what was typed into a form meanwhile; it goes along, and names who is to log in."""
    shown = {"next": safe_next(next), "errors": errors or {}, "ended": ended, "kept": kept}
    return render(request, "login.html", status, **shown, username=username or (kept.owner if kept else ""))
