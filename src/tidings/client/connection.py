"""What both clients have in common: an address, a token, and how a request becomes one of httpx's and back."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Any

import httpx

from tidings.client.answers import Lost, ServerResponse
from tidings.client.errors import ServerUnreachable
from tidings.client.flows import Patience
from tidings.client.request import Request

DEFAULT_URL = "http://127.0.0.1:8080"
_NUMBER = re.compile(r"^\[Errno -?\d+\] ")  # of no use to readers of what follows it


class Connection:
    """`token` may be set at any time; `register` and `log_in` set it."""

    def __init__(
        self,
        url: str = DEFAULT_URL,
        token: str | None = None,
        *,
        patience: Patience | None = None,
        timeout: float = 30.0,
    ) -> None:
        self.url = url.rstrip("/")
        self.token = token
        self.patience = patience or Patience()
        self._timeout = timeout
        try:
            host = httpx.URL(self.url).host
        except httpx.InvalidURL:
            host = ""
        if not self.url.startswith(("http://", "https://")) or not host:
            raise ServerUnreachable(url, f"expected an address such as {DEFAULT_URL}")
        self._options: dict[str, Any] = {
            "trust_env": not _is_here(host),  # no proxy between a machine and itself
            "verify": self.url.startswith("https"),  # reading the certificates takes longer than a request
            "follow_redirects": False,  # the token would go along
            "headers": {"accept": "application/json", "user-agent": "tidings"},
        }

    def _arguments(self, request: Request[Any]) -> dict[str, Any]:
        headers = dict(request.headers)
        if self.token:
            headers["authorization"] = f"Bearer {self.token}"
        return {
            "method": request.method,
            "url": self.url + request.path,
            "params": request.query or None,
            "content": request.body,
            "headers": headers,
            "timeout": httpx.Timeout(
                self._timeout, connect=min(5.0, self._timeout), read=self._timeout + request.waits
            ),
        }

    def _answer(self, response: httpx.Response) -> ServerResponse:
        return ServerResponse(self.url, response.status_code, response.headers, response.content)

    def _lost(self, problem: httpx.HTTPError) -> Lost:
        if isinstance(problem, httpx.TimeoutException):
            return Lost(
                self.url, "it did not answer in time", not isinstance(problem, httpx.ConnectTimeout | httpx.PoolTimeout)
            )
        said = _NUMBER.sub("", str(problem)) or type(problem).__name__
        return Lost(self.url, said, not isinstance(problem, httpx.ConnectError))


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
