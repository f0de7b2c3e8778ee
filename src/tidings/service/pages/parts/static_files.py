"""/pages/static: style, scripts and the icon, by addresses that change with their content, so that they may be kept."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.resources import files

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from tidings.service.door.guarded_route import GuardedRoute

router = APIRouter(include_in_schema=False, route_class=GuardedRoute)

_KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_FOR_EVER = "public, max-age=31536000, immutable"


@cache
def _all() -> dict[str, tuple[str, bytes]]:
    """By name: the digest and the bytes."""
    folder = files("tidings.service.pages") / "static"
    found = {one.name: one.read_bytes() for one in folder.iterdir() if one.name.rpartition(".")[2] in _KINDS}
    # Scripts import each other by plain names, so all have one digest: that of all.
    digest = sha256(b"".join(body for _, body in sorted(found.items()))).hexdigest()[:12]
    return {name: (digest, body) for name, body in found.items()}


def address(name: str) -> str:
    digest, _ = _all()[name]
    return f"/pages/static/{digest}/{name}"


@router.get("/pages/static/{digest}/{name}")
async def static(digest: str, name: str, request: Request) -> Response:
    if name not in _all():
        raise HTTPException(404)
    newest, body = _all()[name]
    headers = {"Cache-Control": _FOR_EVER if digest == newest else "no-cache"}
    return Response(body, headers=headers, media_type=_KINDS[name.rpartition(".")[2]])
