"""A page whose form is filled in once more with what was typed before the session ended.

It works on the page's own markup: no page needs to know of it, and no script is needed.
"""

from __future__ import annotations

from typing import Any

from lxml import html
from starlette.requests import Request
from starlette.responses import Response

from tidings.service.pages.kept_form import KeptForm, KeptForms
from tidings.service.pages.visiting import visitor

_TOLD = "You are logged in again. What you had typed is still here: look it over, and send it."
_NOT_TYPED = frozenset({"hidden", "password", "submit", "button"})


def kept_forms_of(request: Request) -> KeptForms:
    state = request.app.state
    if not hasattr(state, "kept_forms"):
        state.kept_forms = KeptForms()
    kept: KeptForms = state.kept_forms
    return kept


def refilled(request: Request, answer: Response) -> Response:
    """The answer itself, unless a form waits for this page of this session."""
    if request.method != "GET" or answer.status_code != 200 or answer.media_type != "text/html":
        return answer
    session = visitor(request).digest
    kept = kept_forms_of(request).take(session, request.url.path) if session else None
    if kept is not None:
        answer.body = fill(bytes(answer.body).decode(), kept).encode()
        answer.headers["content-length"] = str(len(answer.body))
    return answer


def fill(page: str, kept: KeptForm) -> str:
    """The page as it is where it has no such form."""
    tree = html.document_fromstring(page)
    form = next((one for one in tree.iter("form") if one.get("action") == kept.action), None)
    if form is None or form.get("method", "get") != "post":
        return page
    typed: dict[str, list[str]] = {}
    for name, value in kept.pairs:
        typed.setdefault(name, []).append(value)
    fields = _fields(form)
    for name, controls in fields.items():
        _fill(controls, typed.get(name, []))
    if any(name in typed for name in fields):
        told = html.Element("p", {"class": "notice", "role": "status"})
        told.text = _TOLD
        form.addprevious(told)
    return str(html.tostring(tree, encoding="unicode", doctype="<!doctype html>"))


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
