"""A page whose form is filled in once more with what was typed before the session ended, or another began.

It works on the page's own markup: no page needs to know of it, and no script is needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from lxml import html
from starlette.requests import Request
from starlette.responses import Response

from tidings.service.door.callers import digest_of
from tidings.service.pages.forms.kept_form import KeptForm, KeptForms
from tidings.service.pages.visitors import GUEST, ensure_secret, secret_of, set_cookie, visitor

_TYPED = (
    "This was not sent, since your session is a new one. What you had typed is still here: look it over, and send it."
)
_PRESSED = "What you pressed was not done, since your session is a new one. Press it once more."
_GUESTS = 50  # forms of guests that wait; apart, so that strangers push out nobody's
_NOT_XML = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")  # lxml takes none of these
_NOT_TYPED = frozenset({"hidden", "password", "submit", "button"})


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


def refilled(request: Request, answer: Response) -> Response:
    """The answer itself, unless a form waits for this page of this visitor."""
    if request.method != "GET" or answer.status_code != 200 or answer.media_type != "text/html":
        return answer
    secret = secret_of(request)
    kept = _waiting(request).take(digest_of(secret), request.url.path) if secret else None
    if kept is not None:
        answer.body = fill(bytes(answer.body).decode(), kept).encode()
        answer.headers["content-length"] = str(len(answer.body))
    return answer


def fill(page: str, kept: KeptForm) -> str:
    """The page as it is where it has no such form."""
    tree = html.document_fromstring(page)
    forms = [one for one in tree.iter("form") if (one.get("action"), one.get("method")) == (kept.action, "post")]
    if not forms:
        return page
    typed: dict[str, list[str]] = {}
    for name, value in kept.pairs:
        typed.setdefault(name, []).append(_NOT_XML.sub("", value))
    # Several forms of a page may go to one address: this is the one that has most of the fields.
    form = max(forms, key=lambda one: len(typed.keys() & _fields(one).keys()))
    fields = _fields(form)
    told = html.Element("p", {"class": "notice", "role": "status"})
    if any(name in typed for name in fields):
        for name, controls in fields.items():
            _fill(controls, typed.get(name, []))
        told.text = _TYPED
        form.addprevious(told)
    elif not kept.is_typed and (main := tree.find(".//main")) is not None:  # a button may stand where no words fit
        told.text = _PRESSED
        main.insert(0, told)
    return str(html.tostring(tree, encoding="unicode", doctype="<!doctype html>"))


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


def _fields(form: Any) -> dict[str, list[Any]]:
    fields: dict[str, list[Any]] = {}
    for control in form.iter("input", "select", "textarea"):
        if control.get("name") and control.get("type", "text") not in _NOT_TYPED:
            fields.setdefault(control.get("name"), []).append(control)
    return fields


def _fill(controls: list[Any], values: list[str]) -> None:
    """Ticks are set as they were; of other fields the first takes the first value, and so on."""
    if controls[0].get("type") in ("checkbox", "radio"):
        for control in controls:
            _mark(control, "checked", control.get("value", "on") in values)
        return
    if controls[0].tag == "input":
        controls += _more(controls[-1], len(values) - len(controls))
    for place, control in enumerate(controls):
        value = values[place] if place < len(values) else ""
        match control.tag:
            case "textarea":
                control.text = f"\n{value}"  # a browser drops the first line's end
            case "select":
                for option in control.iter("option"):
                    _mark(option, "selected", option.get("value", option.text or "") == value)
            case _:
                control.set("value", value)


def _more(last: Any, number: int) -> list[Any]:
    """Further fields like the last one, where there were several values."""
    made: list[Any] = []
    for _ in range(number):
        field = html.Element("input", {name: value for name, value in last.attrib.items() if name != "id"})
        (made[-1] if made else last).addnext(field)
        made.append(field)
    return made


def _mark(node: Any, name: str, on: bool) -> None:
    if on:
        node.set(name, name)
    else:
        node.attrib.pop(name, None)
