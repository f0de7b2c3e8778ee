"""What a mail says: subject, plain text and HTML of a delivery, all three from one template.

    OutgoingDelivery, unsubscribe link ──> Mail

Event content is an attacker's text. It is made harmless here, once: every piece becomes one line without control
characters, no longer than its limit, before the template sees it; the HTML is autoescaped. Called by the email
channel, and by the Apprise channel for the subject and the plain text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from jinja2 import Environment, StrictUndefined, Template

from tidings.notifying.delivery import OutgoingDelivery, Owed

LONGEST_SUBJECT = 120  # characters
LONGEST_FILTER = 500
LONGEST_NAME = 80
LONGEST_HEADLINE = 80
LONGEST_VALUE = 500
MOST_VALUES = 20  # of one attribute
MOST_ATTRIBUTES = 40  # of one event
MOST_EVENTS = 50  # of one digest
_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")  # text direction
_NOT_SHOWN = frozenset({"Cc", "Cs", "Cn", "Co", "Zl", "Zp"})


@dataclass(frozen=True, slots=True)
class Mail:
    subject: str  # one line
    plain: str
    html: str


@dataclass(frozen=True, slots=True)
class _Told:
    """One event as the template shows it: each text is one harmless line."""

    types: str
    title: str  # its headline with its types, or these alone
    id: str
    source: str
    time: str  # when it happened, as far as the publisher said
    matched_at: str
    rows: tuple[tuple[str, str], ...]
    more: int  # attributes that are not shown
    events: tuple[str, ...]  # of a detection


_TEMPLATE = """\
{%- block subject -%}
{{ "Test: " if test }}Tidings: {{ told[0].title if count == 1 else count ~ " notifications" }} for {{ subscription }}
{%- endblock -%}
{%- block plain -%}
{{ heading }}

Your {{ kind }}: {{ filter }}
{% for one in told %}

{{ one.title }}
{% for name, value in one.rows %}
    {{ name }}: {{ value }}
{% endfor %}
{% if one.more %}
    … and {{ one.more }} more attributes
{% endif %}
{% for event in one.events %}
    {{ loop.index }}. {{ event }}
{% endfor %}
  {{ when(one) }}
{% endfor %}
{% if hidden %}

… and {{ hidden }} more; all of them are in your list of notifications.
{% endif %}

--
{{ reason }}
{% if unsubscribe %}
Unsubscribe: {{ unsubscribe }}
{% endif %}
{%- endblock -%}
{%- block html -%}
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{{ heading }}</title></head>
<body style="font-family: sans-serif">
<p>{{ heading }}</p>
<p>Your {{ kind }}: <code>{{ filter }}</code></p>
{% for one in told %}
<h3>{{ one.title }}</h3>
<table cellpadding="4">
{% for name, value in one.rows %}
<tr><th align="left">{{ name }}</th><td>{{ value }}</td></tr>
{% endfor %}
{% if one.more %}
<tr><td colspan="2">… and {{ one.more }} more attributes</td></tr>
{% endif %}
</table>
{% if one.events %}
<ol>
{% for event in one.events %}
<li>{{ event }}</li>
{% endfor %}
</ol>
{% endif %}
<p><small>{{ when(one) }}</small></p>
{% endfor %}
{% if hidden %}
<p>… and {{ hidden }} more; all of them are in your list of notifications.</p>
{% endif %}
<hr>
<p><small>{{ reason }}
{% if unsubscribe %}
<a href="{{ unsubscribe }}">Unsubscribe</a>
{% endif %}
</small></p>
</body></html>
{%- endblock -%}
"""


def _template(escape: bool) -> Template:
    found = Environment(autoescape=escape, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return found.from_string(_TEMPLATE)


_PLAIN, _HTML = _template(False), _template(True)


def mail_of(delivery: OutgoingDelivery, unsubscribe: str = "") -> Mail:
    """`unsubscribe` is the whole link; without one the mail does not speak of it."""
    told = tuple(_told(owed) for owed in delivery.owed[:MOST_EVENTS])
    count = len(delivery.owed)
    subscription = one_line(delivery.name or delivery.subscription, LONGEST_NAME)
    known = {
        "told": told,
        "count": count,
        "hidden": count - len(told),
        "test": delivery.test,
        "subscription": subscription,
        "filter": one_line(delivery.filter, LONGEST_FILTER),
        "kind": "composite" if delivery.owed[0].detection is not None else "filter",
        "heading": _heading(count, subscription, delivery),
        "reason": _reason(subscription, delivery),
        "unsubscribe": unsubscribe,
        "when": _when,
    }
    return Mail(
        one_line(_block(_PLAIN, "subject", known), LONGEST_SUBJECT),
        _block(_PLAIN, "plain", known).strip() + "\n",
        _block(_HTML, "html", known) + "\n",
    )


def one_line(text: object, most: int) -> str:
    """At most `most` characters, none of them a line's end, a control character or one that turns the direction of
    what follows (`‮gpj.exe`); runs of white space are one space."""
    head = str(text)[: 4 * most + 4]  # a value may have a quarter of a megabyte: what is cut off is not looked at
    kept = "".join(" " if _unseen(character) else character for character in head if character not in _TURNING)
    words = " ".join(kept.split())
    return words if len(words) <= most and len(head) == len(str(text)) else words[: most - 1].rstrip() + "…"


def _unseen(character: str) -> bool:
    return unicodedata.category(character) in _NOT_SHOWN


def _block(template: Template, name: str, known: Mapping[str, Any]) -> str:
    return "".join(template.blocks[name](template.new_context(dict(known))))


def _heading(count: int, subscription: str, delivery: OutgoingDelivery) -> str:
    what = "An event matches" if count == 1 else f"{count} events match"
    if delivery.owed[0].detection is not None:
        what = "A pattern was detected by" if count == 1 else f"{count} patterns were detected by"
        expired = sum("expired" in owed.detection for owed in delivery.owed if owed.detection is not None)
        if expired == count:
            what = "A partial match expired in" if count == 1 else f"{count} partial matches expired in"
        elif expired:
            what = f"{count} patterns were detected, or expired before they were complete, by"
    return f"{'A test: this is how it looks when something is found. ' if delivery.test else ''}{what} {subscription}."


def _reason(subscription: str, delivery: OutgoingDelivery) -> str:
    owner = one_line(delivery.owner, LONGEST_NAME)
    return f"You get this because the account {owner} subscribed under the name {subscription} with this address."


def _when(one: _Told) -> str:
    happened = f"happened {one.time}, " if one.time else ""
    source = f" from {one.source}" if one.source else ""
    return f"{happened}matched {one.matched_at}; event {one.id}{source}"


def _told(owed: Owed) -> _Told:
    event = owed.event
    attributes = event.get("attributes") or {}
    rows = tuple(
        (one_line(name, LONGEST_NAME), _value(value)) for name, value in islice(attributes.items(), MOST_ATTRIBUTES)
    )
    types = one_line(", ".join(_texts(event.get("event_type", ()))), LONGEST_NAME) or "an event"
    headline = one_line(next(iter(_texts(attributes.get(owed.headline, ()))), ""), LONGEST_HEADLINE)
    title = f"{headline} ({types})" if headline else types
    events = () if owed.detection is None else tuple(owed.detection["events"])
    if owed.detection is not None:  # the event is only its last one
        title = f"{title}, last of {len(events)} events" if len(events) > 1 else title if events else "nothing happened"
        if expired := owed.detection.get("expired"):
            title = f"{title}, expired while waiting for {one_line(expired, LONGEST_HEADLINE)}"
    return _Told(
        types,
        title,
        one_line(event.get("id", ""), LONGEST_NAME),
        one_line(event.get("source") or "", LONGEST_NAME),
        one_line(event.get("time") or "", LONGEST_NAME),
        str(owed.matched_at),
        rows,
        len(attributes) - len(rows),
        tuple(_constituent(one) for one in events[:MOST_VALUES]),
    )


def _constituent(event: Mapping[str, Any]) -> str:
    source = f" from {event['source']}" if event.get("source") else ""
    return one_line(f"{event['time']}: event {event['id']}{source}", LONGEST_VALUE)


def _value(value: object) -> str:
    values = value if isinstance(value, list | tuple) else (value,)
    more = f", … and {len(values) - MOST_VALUES} more" if len(values) > MOST_VALUES else ""
    return one_line(", ".join(_texts(values)), LONGEST_VALUE) + more


def _texts(values: object) -> Iterable[str]:
    """The file form has one value or a list of them."""
    some = values if isinstance(values, list | tuple) else (values,)
    return (str(value)[: LONGEST_VALUE + 1] for value in some[:MOST_VALUES])
