"""Which addresses a link may lead to."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from tidings.errors import Explained, ServiceError


class PlainLink(Explained, ServiceError):
    url: str
    template = "{url}: a link to another machine needs https, since its token and all events travel over it"


def check_url(url: str) -> None:
    """Raises PlainLink: anything but TLS goes to this machine only."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        near = ip_address(host).is_loopback
    except ValueError:
        near = host == "localhost"
    if parts.scheme != "https" and not (parts.scheme == "http" and near):
        raise PlainLink(url)
