"""What each HTTP route, page and XML request needs: one table, so that nothing can be reached by forgetting a check.

`GuardedRoute` and `PageRoute` look their needs up when they are made; a route that is missing here stops the service
from starting. `needs` is checked before a request's body is read.
"""

from __future__ import annotations

NOTHING = "none"  # open to all
TOKEN = "any token"
LINK = "link"  # a token of another server, which may do nothing else

_HTTP = {
    NOTHING: """
        POST /v1/accounts
        POST /v1/tokens
        GET /v1/schema
        GET /v1/schema/history
        GET /schema.json
        GET /asyncapi.json
        GET /dtds/{name}.dtd
        GET /confirm/{token}
        POST /confirm/{token}
        GET /unsubscribe/{token}
        POST /unsubscribe/{token}
        GET /healthz
        GET /readyz
        GET /metrics
    """,
    TOKEN: """
        DELETE /v1/tokens/current
    """,
    "publish": """
        POST /v1/events
        POST /v1/documents/{event_type}
        GET /v1/network/advertisements
        POST /v1/network/advertisements
        DELETE /v1/network/advertisements/{id}
    """,
    "subscribe": """
        POST /v1/subscriptions
        POST /v1/subscriptions/import
        GET /v1/subscriptions/export
        GET /v1/subscriptions
        GET /v1/subscriptions/{id}
        PATCH /v1/subscriptions/{id}
        DELETE /v1/subscriptions/{id}
        GET /v1/subscriptions/{id}/waiting
        GET /v1/subscriptions/{id}/notifications
        GET /v1/notifications
        GET /v1/notifications/stream
        GET /v1/subscriptions/{id}/channel
        POST /v1/subscriptions/{id}/channel/pause
        POST /v1/subscriptions/{id}/channel/resume
        POST /v1/subscriptions/{id}/channel/rotate-secret
        GET /v1/subscriptions/{id}/deliveries
        GET /v1/subscriptions/{id}/deliveries/{number}
        POST /v1/subscriptions/{id}/replay
        POST /v1/subscriptions/{id}/test-delivery
        GET /v1/notices
        POST /v1/notices/seen
        POST /v1/network/tickets
        POST /v1/network/moves
        GET /v1/network/moves
    """,
    "read": """
        GET /v1/events
        GET /v1/events/search
        GET /v1/events/{position}
        POST /v1/filters/explain
        POST /v1/filters/test
        POST /v1/composites/test
        GET /v1/queries
        GET /v1/queries/{id}
        GET /v1/queries/{id}/events
        DELETE /v1/queries/{id}
        GET /v1/network/events
    """,
    "account": """
        GET /v1/accounts/me
        POST /v1/accounts/me/password
        POST /v1/accounts/me/delete
        GET /v1/tokens
        DELETE /v1/tokens/{id}
    """,
    "schema": """
        POST /v1/schema/domains
        POST /v1/schema/domains/{name}/values
        POST /v1/schema/attributes
        POST /v1/schema/event-types
        POST /v1/schema/event-types/{name}/attributes
        POST /v1/schema/event-types/{name}/headline
    """,
    "operate": """
        PATCH /v1/accounts/{username}
        PUT /v1/accounts/{username}/quota
        GET /v1/operator/channels
        GET /v1/network
        POST /v1/network/invitations
        GET /v1/network/links
        POST /v1/network/links
        DELETE /v1/network/links/{name}
        POST /v1/network/home
        POST /v1/network/orders
    """,
}
# What linked servers send each other: no part of the API.
_LINKS = {
    LINK: """
        POST /v1/network/join
        POST /v1/network/messages
    """,
}
_PAGES = {
    NOTHING: """
        GET /
        GET /pages/now
        GET /pages/static/{digest}/{name}
        GET /pages/register
        POST /pages/register
        GET /pages/login
        POST /pages/login
        GET /pages/logout
        POST /pages/logout
        GET /pages/schema
        GET /pages/schema/history
        GET /pages/values
        GET /problems
        GET /problems/{name}
        GET /pages/account/tokens
        GET /pages/account/tokens/{id}/remove
        GET /pages/account/password
        GET /pages/account/delete
        GET /pages/subscriptions/{id}/test-delivery
        GET /pages/subscriptions/{id}/pause
        GET /pages/subscriptions/{id}/resume
        GET /pages/subscriptions/{id}/delete
        GET /pages/{rest}
    """,
    TOKEN: """
        GET /pages/attributes
    """,
    "publish": """
        GET /pages/publish
        POST /pages/publish
        GET /pages/feeds
        POST /pages/feeds
    """,
    "subscribe": """
        POST /pages/filter
        POST /pages/filter/covered
        POST /pages/composite
        GET /pages/composites/new
        POST /pages/composites/new
        GET /pages/notices
        POST /pages/notices
        GET /pages/subscriptions
        GET /pages/subscriptions/new
        GET /pages/subscriptions/import
        POST /pages/subscriptions/import
        GET /pages/subscriptions/export
        POST /pages/subscriptions/new
        GET /pages/subscriptions/{id}
        GET /pages/subscriptions/{id}/newer
        GET /pages/subscriptions/{id}/lately
        GET /pages/subscriptions/{id}/waiting
        GET /pages/subscriptions/{id}/edit
        POST /pages/subscriptions/{id}/edit
        POST /pages/subscriptions/{id}/pause
        POST /pages/subscriptions/{id}/resume
        POST /pages/subscriptions/{id}/delete
        GET /pages/subscriptions/{id}/channel
        POST /pages/subscriptions/{id}/channel
        POST /pages/subscriptions/{id}/test-delivery
        GET /pages/subscriptions/{id}/deliveries
        POST /pages/subscriptions/{id}/deliveries
    """,
    "read": """
        POST /pages/filter/count
        POST /pages/composite/count
        GET /pages/paths
        GET /pages/events
        GET /pages/events/{position}
        GET /pages/subscriptions/{id}/why/{position}
    """,
    "account": """
        GET /pages/account
        POST /pages/account/tokens
        POST /pages/account/tokens/{id}/remove
        POST /pages/account/password
        POST /pages/account/delete
    """,
    "schema": """
        GET /pages/schema/grow/{way}
        POST /pages/schema/grow/{way}
    """,
    "operate": """
        GET /pages/network
        GET /pages/operator
        GET /pages/operator/now
        POST /pages/operator/clock
    """,
}
XML = {
    "ADD_DOMAIN": "schema",
    "ADD_ATTRIBUTE": "schema",
    "EXTENT_SCHEMA": "schema",
    "ADD_EVENT": "schema",
    "PUBLISH_EVENT": "publish",
    "PUBLISH_SUB": "subscribe",
    "DELETE_SUB": "subscribe",
    "LIST_SUBS": "subscribe",
    "LIST_EVENTS": "subscribe",
}
HTTP = {line.strip(): need for need, lines in _HTTP.items() for line in lines.strip().splitlines()}
PAGES = {line.strip(): need for need, lines in _PAGES.items() for line in lines.strip().splitlines()}
LINKS = {line.strip(): need for need, lines in _LINKS.items() for line in lines.strip().splitlines()}
_ALL = HTTP | PAGES | LINKS


def need_of(method: str, path: str) -> str:
    """A scope, TOKEN or NOTHING. `path` has its parameters in braces."""
    try:
        return _ALL[f"{method} {path}"]
    except KeyError:
        raise LookupError(f"scopes.py does not say what {method} {path} needs") from None
