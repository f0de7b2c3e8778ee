"""Which addresses a link may lead to, and who is believed to answer there."""

from __future__ import annotations

import ssl
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


def trusted(url: str) -> ssl.SSLContext | bool:
    """For httpx, which has a list of its own: whom this machine trusts, or the file that SSL_CERT_FILE names."""
    return ssl.create_default_context() if url.startswith("https:") else False  # reading certificates takes 30 ms
