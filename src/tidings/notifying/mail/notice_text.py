"""The mail to the owner of a disabled channel: DueNotice in, Mail out.

It says what, of which filter, why and since when, what is waiting, and how to go on. Reasons quote what a receiver
answered, and ids are anybody's text: each piece is made one harmless line first, as in `text`.
"""

from __future__ import annotations

from html import escape
from urllib.parse import quote

from tidings.notifying.delivery import destination_of
from tidings.notifying.mail.text import LONGEST_NAME, LONGEST_SUBJECT, LONGEST_VALUE, Mail, one_line
from tidings.store import DueNotice, StoredChannel


def notice_mail(notice: DueNotice, channel: StoredChannel, links_lead_to: str) -> Mail:
    """`links_lead_to` is the beginning of the service's address."""
    id, owner = one_line(notice.subscription, LONGEST_NAME), one_line(notice.owner, LONGEST_NAME)
    place = one_line(destination_of(channel).partition(" ")[2], LONGEST_NAME)
    name = quote(notice.subscription, safe="")
    since = f"; nothing has arrived since {channel.failing_since}" if channel.failing_since else ""
    page = f"{links_lead_to}/pages/subscriptions/{name}/deliveries"
    called = one_line(notice.name, LONGEST_NAME)
    which = one_line(notice.filter, LONGEST_VALUE) or f"a withdrawn subscription, {id}"
    which = f"{called}: {which}" if called else which
    what = f"Sending by {channel.kind} to {place} was stopped at {notice.stored}{since}."
    whose = f"Subscription: {which}"
    why = f"Reason: {one_line(channel.reason, LONGEST_VALUE)}"
    kept = f"{_counted(notice.waiting, 'waits', 'wait')} to be sent, {_counted(notice.dead, 'was', 'were')} given up."
    go_on = [
        f"To continue, check that the receiver works, then resume the channel: {page}",
        f"or by POST {links_lead_to}/v1/subscriptions/{name}/channel/resume. Pending deliveries are then sent.",
    ]
    if notice.dead:
        go_on.append(f"To send failed deliveries again: tidings replay-deliveries {name} --failed")
    reason = f"You get this because the account {owner} sends notifications to this address, which you confirmed."
    html = "".join(f"<p>{escape(line)}</p>\n" for line in (what, whose, why, kept, *go_on))
    return Mail(
        one_line(f"Tidings: sending by {channel.kind} was stopped: {called or notice.filter or id}", LONGEST_SUBJECT),
        "\n".join((what, "", whose, "", why, "", kept, "", *go_on, "", "--", reason)) + "\n",
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Tidings</title></head><body>\n'
        f"{html}<hr>\n<p><small>{escape(reason)}</small></p>\n</body></html>\n",
    )


def _counted(many: int, one: str, more: str) -> str:
    return f"{many:,} {'delivery' if many == 1 else 'deliveries'} {one if many == 1 else more}"
