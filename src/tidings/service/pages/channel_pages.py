"""/pages/subscriptions/{id}/channel: how its owner is notified, and a test delivery whose outcome is shown in place."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from tidings.errors import ChannelError, ServiceError, StoreError, TidingsError
from tidings.notifying.delivery import Attempt
from tidings.service.actions.channel_values import ChannelUnconfirmed, how_to_confirm
from tidings.service.actions.deliveries import send_test
from tidings.service.actions.subscriptions import SubscriptionChange, change
from tidings.service.api.problems import status_of
from tidings.service.pages.delivery_pages import deliveries_page
from tidings.service.pages.forms.channel_form import asked_channel, channel_fields, filled, wrong_field
from tidings.service.pages.forms.form import Form, read_form
from tidings.service.pages.forms.waiting_form import typed
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.parts.render import render
from tidings.service.pages.subscription_pages import MINE, own
from tidings.service.pages.visitors import gateway_of, member
from tidings.store import NoSuchSubscription, Standing

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_ASK_AGAIN = "“Ask again” among its deliveries"  # the API's way would not help those who look at a page


@router.get(f"{MINE}/{{id}}/channel")
async def choosing(id: str, request: Request) -> Response:
    standing = await own(request, id)
    gateway = gateway_of(request)
    found = await gateway.read(gateway.store.channel, id, standing.owner)
    form = typed(request, request.url.path) or filled(found)
    return _form_page(request, standing, form, {}, found is not None)


@router.post(f"{MINE}/{{id}}/channel")
async def choose(id: str, request: Request) -> Response:
    standing = await own(request, id)
    form = await read_form(request)
    try:
        changed = await change(gateway_of(request), standing.owner, id, SubscriptionChange(channel=asked_channel(form)))
    except (ChannelError, ServiceError) as error:
        errors, status = wrong_field(error, form), status_of(error)
        return _form_page(request, standing, form, errors, bool(standing.delivery), status)
    if changed.secret or changed.confirm:
        return await deliveries_page(request, id, standing.owner, secret=changed.secret)
    return RedirectResponse(f"{MINE}/{id}/deliveries?done=chosen", 303)


@router.post(f"{MINE}/{{id}}/test-delivery")
async def test(id: str, request: Request) -> Response:
    """Sent at once. `piece`: only the outcome is asked for."""
    owner = member(request).owner
    form = await read_form(request)
    gateway = gateway_of(request)
    tested: Attempt | None = None
    problem, status = "", 200
    try:
        tested = await send_test(gateway, owner, id)
    except NoSuchSubscription:
        raise
    except TidingsError as error:
        if isinstance(error, StoreError) and status_of(error) >= 500:
            raise
        problem, status = str(error), status_of(error)
        channel = await gateway.channels.owned(id, owner)
        if isinstance(error, ChannelUnconfirmed) and channel is not None:
            problem = f"it is not confirmed yet, so nothing can be sent: {how_to_confirm(channel, _ASK_AGAIN)}"
    if form.has("piece"):
        return render(request, "tested.html", status, tested=tested, test_problem=problem)
    return await deliveries_page(request, id, owner, tested=tested, test_problem=problem, status=status)


def _form_page(
    request: Request, standing: Standing, form: Form, errors: dict[str, str], saved: bool, status: int = 200
) -> Response:
    shown = {"standing": standing, "form": form, "errors": errors, "saved": saved}
    shown |= channel_fields(request, form, errors)
    return render(request, "channel.html", status, **shown, tested=None, test_problem="")
