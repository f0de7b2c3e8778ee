"""A form that was not sent since the session ended, or another began: it waits here for the next look at its page.

keep ──> take (PageRoute, at the next GET of the page) ──> typed (the page fills its form in) and told (a notice)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from tidings.service.door.callers import digest_of
from tidings.service.pages.forms.form import Form
from tidings.service.pages.forms.kept_form import HIDDEN, KeptForm, KeptForms
from tidings.service.pages.visitors import GUEST, ensure_secret, secret_of, set_cookie, visitor

_TYPED = "This was not sent because you have a new session. What you typed is still here: check it and send it again."
_PRESSED = "Nothing was done because you have a new session. Press the button again."
_GUESTS = 50  # forms of guests that wait; apart, so that strangers push out nobody's


@dataclass(slots=True)
class _Taken:
    form: KeptForm
    is_shown: bool = False


def keep(request: Request, answer: Response, form: KeptForm) -> None:
    """For the next look of this visitor at its page."""
    cookies: dict[str, str] = {}
    secret = ensure_secret(request, cookies)
    _waiting(request).keep(digest_of(secret), form)
    if GUEST in cookies:
        set_cookie(request, answer, GUEST, cookies[GUEST], None)


def keep_for_session(request: Request, session: bytes, form: KeptForm) -> None:
    """The same for a session that begins with this request's answer."""
    _shelf(request, "kept_forms", KeptForms).keep(session, form)


def take(request: Request) -> None:
    """What waits for this page of this visitor, for `typed` and `told`; once."""
    secret = secret_of(request) if request.method == "GET" else ""
    kept = _waiting(request).take(digest_of(secret), request.url.path) if secret else None
    request.state.waiting_form = None if kept is None else _Taken(kept)


def typed(request: Request, action: str) -> Form | None:
    """What was typed into the form that goes there, without its hidden fields."""
    taken: _Taken | None = getattr(request.state, "waiting_form", None)
    if taken is None or taken.form.action != action or not taken.form.is_typed:
        return None
    taken.is_shown = True
    return Form([(name, value) for name, value in taken.form.pairs if name not in HIDDEN])


def told(request: Request) -> str:
    """What the page says about it; '' for most pages."""
    taken: _Taken | None = getattr(request.state, "waiting_form", None)
    if taken is None:
        return ""
    return _TYPED if taken.is_shown else "" if taken.form.is_typed else _PRESSED


def _waiting(request: Request) -> KeptForms:
    """Where this visitor's forms wait."""
    if visitor(request).digest:
        return _shelf(request, "kept_forms", KeptForms)
    return _shelf(request, "guests_forms", lambda: KeptForms(_GUESTS))


def _shelf(request: Request, name: str, make: Callable[[], KeptForms]) -> KeptForms:
    state = request.app.state
    if not hasattr(state, name):
        setattr(state, name, make())
    shelf: KeptForms = getattr(state, name)
    return shelf
