"""GET /v1/notifications/stream: server-sent events. `curl -N` shows them; a browser's EventSource resumes by itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from tidings.service.actions.subscriptions import check_owned
from tidings.service.api.requests import V1, Calling, GatewayOf, read_cursor
from tidings.service.door.guarded_route import GuardedRoute
from tidings.service.live.stream import Stream
from tidings.service.live.streams import Streams

router = APIRouter(prefix=V1, tags=["notifications"], route_class=GuardedRoute)

NOW = "now"
_TOLD = {
    200: {
        "description": "Each `data` is a notification as in GET /v1/notifications; its `id` is the next cursor",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}
After = Annotated[str, Query(max_length=600, description=f"A cursor, or `{NOW}` to skip stored notifications")]
Resumed = Annotated[
    str, Header(alias="Last-Event-ID", max_length=600, description="The `id` of the last server-sent event received")
]
One = Annotated[str | None, Query(max_length=600, description="Only the notifications of this subscription")]


class _Streamed(StreamingResponse):
    """Leaves the stream whatever happens, also where nobody ever began to read it."""

    def __init__(self, streams: Streams, stream: Stream, texts: AsyncIterator[bytes]) -> None:
        super().__init__(texts, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})
        self._streams, self._stream = streams, stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._streams.leave(self._stream)


@router.get("/notifications/stream", responses=_TOLD, response_class=Response)  # type: ignore[arg-type]
async def stream(
    request: Request,
    gateway: GatewayOf,
    caller: Calling,
    subscription: One = None,
    after: After = "",
    last_event_id: Resumed = "",
) -> Response:
    """Stream your notifications as server-sent events: first the stored ones, then each new one as it is found. To
    resume, send the `Last-Event-ID`; otherwise the stream starts after the cursor `after`, or at the beginning."""
    start = last_event_id or after
    cursor = await gateway.read(gateway.store.last_cursor) if start == NOW else read_cursor(start)
    if subscription is not None:
        await gateway.read(check_owned, gateway, subscription, caller.owner)
    streams: Streams = request.app.state.streams
    opened = streams.open(caller, subscription, cursor)
    return _Streamed(streams, opened, streams.texts(opened, start == NOW))
