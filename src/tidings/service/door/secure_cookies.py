"""Cookies behind TLS: `__Host-` before their names, so that browsers send them back to this host alone and never in
clear, and take none that another host of the same domain has set.

Inside, cookies have their plain names; the middleware translates.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Headers = Sequence[tuple[bytes, bytes]]
_PREFIX = b"__Host-"
_OURS = b"tidings_"


def from_browser(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Request headers with plain names; cookies of ours that came without the prefix are left out."""
    return [(name, _plain(value) if name == b"cookie" else value) for name, value in headers]


def to_browser(headers: Headers) -> list[tuple[bytes, bytes]]:
    """Response headers with the prefix, which needs Secure, also when a cookie is deleted."""
    return [(name, _prefixed(value) if name == b"set-cookie" else value) for name, value in headers]


def _plain(value: bytes) -> bytes:
    kept = [one.strip() for one in value.split(b";")]
    kept = [one for one in kept if not one.startswith(_OURS)]
    return b"; ".join(one.removeprefix(_PREFIX) if one.startswith(_PREFIX + _OURS) else one for one in kept)


def _prefixed(value: bytes) -> bytes:
    if not value.startswith(_OURS):
        return value
    return _PREFIX + value + (b"" if b"; secure" in value.lower() else b"; Secure")
