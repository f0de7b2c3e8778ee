"""The fields that say how a subscriber is notified, as the pages for subscribing and for a channel share them.

Form ──asked_channel──> ChannelAsked        StoredChannel ──filled──> Form        error ──wrong_field──> its field
"""

from __future__ import annotations

from functools import cache
from typing import Any
from zoneinfo import available_timezones

from starlette.requests import Request

from tidings.errors import Explained, ServiceError
from tidings.notifying.errors import InvalidRhythm, UnknownChannel, UnknownTimeZone
from tidings.service.actions.channel_values import KINDS, STORED, ChannelAsked
from tidings.service.api.channels.channel_shapes import shown_url
from tidings.service.pages.forms.form import Form
from tidings.service.pages.visitors import gateway_of
from tidings.store import StoredChannel

_LABELS = {
    STORED: "Here, on its page",
    "webhook": "By webhook",
    "email": "By email",
    "apprise": "By chat or another service",
}
_RHYTHM = ("digest_count", "digest_seconds", "rate_count", "rate_seconds", "quiet_from", "quiet_to", "quiet_zone")
_CONTINENTS = ("Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")


class WrongNumber(Explained, ServiceError):
    """A field that takes a whole number."""

    field: str
    template = "enter a whole number"


def asked_channel(form: Form) -> ChannelAsked:
    """Raises WrongNumber; `Channels.check` validates the rest."""
    kind = form.one("kind") or STORED
    settings: dict[str, Any] = {}
    if kind == STORED:
        return ChannelAsked()  # nothing is sent, so the other fields do not count
    if kind in ("webhook", "apprise"):
        settings["url"] = form.one("url")
    if kind == "email":
        settings["address"] = form.one("address")
    if form.one("digest_count") or form.one("digest_seconds"):
        limits = [name for name in ("count", "seconds") if form.one(f"digest_{name}")]
        settings["digest"] = {name: _whole(form, f"digest_{name}") for name in limits}
    if form.one("rate_count") or form.one("rate_seconds"):
        settings["rate"] = {name: _whole(form, f"rate_{name}") for name in ("count", "seconds")}
    if form.one("quiet_from") or form.one("quiet_to"):
        zone = form.one("quiet_zone") or "UTC"
        settings["quiet"] = {"from": form.one("quiet_from"), "to": form.one("quiet_to"), "zone": zone}
    return ChannelAsked(kind, settings)


def _whole(form: Form, name: str) -> int:
    text = form.one(name)
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise WrongNumber(name)
    return int(text)


def filled(channel: StoredChannel | None) -> Form:
    """The form that would make this channel."""
    if channel is None:
        return Form([("kind", STORED)])
    settings = {**channel.settings, **shown_url(channel)}
    pairs = [("kind", channel.kind), ("url", settings.get("url")), ("address", settings.get("address"))]
    for name in ("digest", "rate", "quiet"):
        pairs += [(f"{name}_{key}", value) for key, value in (settings.get(name) or {}).items()]
    return Form([(name, str(value)) for name, value in pairs if value is not None])


def channel_fields(request: Request, form: Form, errors: dict[str, str]) -> dict[str, Any]:
    """What the template `channel_fields.html` shows beside the form and its errors."""
    # A channel from when mails were sent is still shown as what it is.
    no_mail = not gateway_of(request).settings.smtp_host and form.one("kind") != "email"
    return {
        "kinds": [(kind, _LABELS[kind], no_mail and kind == "email") for kind in KINDS],
        "zones": _zones(),
        "has_rhythm": any(form.one(name) or name in errors for name in _RHYTHM),
    }


@cache
def _zones() -> list[str]:
    """The inhabited ones as suggestions; any other is accepted too."""
    return ["UTC", *sorted(one for one in available_timezones() if one.partition("/")[0] in _CONTINENTS)]


def wrong_field(error: Exception, form: Form) -> dict[str, str]:
    """The message of a ChannelError or a WrongNumber, by the field that it belongs to."""
    match error:
        case InvalidRhythm():
            # At the field itself its name is not needed; the other field is named by its label.
            told = f"this must be {error.expected.replace('quiet.from', '“From”')}"
            return {error.member.replace(".", "_"): told}
        case UnknownTimeZone():
            return {"quiet_zone": str(error)}
        case WrongNumber():
            return {error.field: str(error)}
        case UnknownChannel():
            return {"kind": str(error)}
    return {"address" if form.one("kind") == "email" else "url": str(error)}
