"""Notices to owners: mark them as seen, and find the page where something can be done about one."""

from __future__ import annotations

from urllib.parse import quote

from tidings.service.gateway import Gateway
from tidings.store import Notice
from tidings.store.pages import notices


async def see_up_to(gateway: Gateway, owner: str, number: int) -> None:
    """This one and all before it."""
    await gateway.write(gateway.store.see_notices, owner, number)


async def see_one(gateway: Gateway, owner: str, number: int) -> None:
    await gateway.write(notices.mark_read, gateway.store, owner, number)


def page_of(notice: Notice) -> str | None:
    """None if it is about no subscription."""
    if not notice.subscription:
        return None
    deliveries = f"/pages/subscriptions/{quote(notice.subscription, safe='')}/deliveries"
    return f"{deliveries}?state=dead" if notice.cause else deliveries
