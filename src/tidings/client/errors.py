"""What a caller of a server may have to catch: it could not be reached, or it refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidings.errors import ClientError, Explained, picture

_ERRORS_SHOWN = 20


class ServerUnreachable(Explained, ClientError):
    """Nobody answers at the address, or what answers there is not a Tidings server."""

    url: str
    reason: str
    template = "no answer from {url}: {reason}; is the address right, and is `tidings serve` running there?"


class ServerRefused(ClientError):
    """The server answered that it would not, with the HTTP status and the problem (RFC 9457) as it sent it."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        super().__init__(status, problem)

    @property
    def status(self) -> int:
        return int(self.args[0])

    @property
    def problem(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.args[1]
        return found

    @property
    def type(self) -> str:
        """Stable, such as '/problems/unknown-attribute'; relative to the server, where its page says what to do."""
        return str(self.problem.get("type", "about:blank"))

    @property
    def request_id(self) -> str:
        """Under which the server's log has the request; '' where it sent none."""
        return str(self.problem.get("request_id", ""))

    @property
    def errors(self) -> list[dict[str, Any]]:
        """The broken rules, of an event that was refused."""
        listed = self.problem.get("errors")
        return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []

    def __str__(self) -> str:
        problem = self.problem
        said = str(problem.get("detail") or problem.get("title") or f"the server answered {self.status}")
        parts = [_with_the_place(said, problem)]
        for error in self.errors[:_ERRORS_SHOWN]:
            message = str(error.get("message") or error.get("detail") or error)
            if message not in said:
                parts.append(f"  {error['rule']}: {message}" if "rule" in error else f"  {message}")
        if (more := len(self.errors) - _ERRORS_SHOWN) > 0:
            parts.append(f"  … and {more:,} more")
        return "\n".join(parts)


class NotAllowed(ServerRefused):
    """401 or 403: no token, one that is not valid, or one without the scope."""


class NotFound(ServerRefused):
    """404: it is not there, or not yours."""


class TooMany(ServerRefused):
    """429, still after waiting as the server asked."""


class QueryFailed(Explained, ClientError):
    """A query that ran as a job failed: its id, its state and what the server says."""

    id: str
    state: str
    reason: str
    template = "query {id} has {state}: {reason}"


def refusal(status: int, problem: Mapping[str, Any]) -> ServerRefused:
    """The error for a status of 400 or more."""
    kind = {401: NotAllowed, 403: NotAllowed, 404: NotFound, 429: TooMany}.get(status, ServerRefused)
    return kind(status, problem)


def _with_the_place(said: str, problem: Mapping[str, Any]) -> str:
    """Where a filter's text is wrong, its line with a caret below the place."""
    text, line, column = (problem.get(name) for name in ("text", "line", "column"))
    if not (isinstance(text, str) and isinstance(line, int) and isinstance(column, int)) or "\n" in said:
        return said
    lines = text.split("\n")
    if not 1 <= line <= len(lines):
        return said
    offset = sum(len(before) + 1 for before in lines[: line - 1]) + max(0, column - 1)
    place = f"line {line}, column {column}: "
    return f"{place}{said.removeprefix(place)}\n{picture(text, min(offset, len(text)))}"
