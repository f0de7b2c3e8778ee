"""The tag, the name and the summary of every operation in the OpenAPI document: one table, so that none is forgotten.

Names are verbs and nouns in camelCase; generated clients call their functions by them, so they stay. An operation's
description is its handler's docstring, its examples are in `examples.json`.
"""

from __future__ import annotations

from typing import NamedTuple

TAGS = {
    "events": "Publish events, and read those that are stored.",
    "filters": "Try a filter or composite before you subscribe with it.",
    "queries": "Searches over many events, which run in the background.",
    "subscriptions": "Filters and composites that are matched with every event.",
    "notifications": "What matched: in pages, or live.",
    "channels": "How notifications are sent, and notices about that.",
    "deliveries": "What was sent, attempt by attempt.",
    "schema": "Domains, attributes and event types that all share.",
    "accounts": "Accounts and their tokens.",
    "network": "Servers that are linked to each other.",
    "documents": "Machine-readable descriptions of events and messages.",
    "operations": "Health and metrics of the service.",
}


class Operation(NamedTuple):
    tag: str
    id: str
    summary: str


_TABLE = {
    "events": """
        POST /v1/events | publishEvents | Publish events
        POST /v1/documents/{event_type} | publishDocument | Publish an XML document
        GET /v1/events | listEvents | Search stored events
        GET /v1/events/search | searchEvents | Search events by when they happened
        GET /v1/events/{position} | getEvent | Get a stored event
    """,
    "filters": """
        POST /v1/filters/explain | explainFilter | Explain why an event matches a filter
        POST /v1/filters/test | testFilter | Test a filter on stored events
        POST /v1/composites/test | testComposite | Test a composite on stored events
    """,
    "queries": """
        GET /v1/queries | listQueries | List your queries
        GET /v1/queries/{id} | getQuery | Get a query's progress
        DELETE /v1/queries/{id} | deleteQuery | Delete a query
        GET /v1/queries/{id}/events | listQueryEvents | List the events a query found
    """,
    "subscriptions": """
        POST /v1/subscriptions | createSubscription | Subscribe
        GET /v1/subscriptions | listSubscriptions | List your subscriptions
        POST /v1/subscriptions/import | importSubscriptions | Import subscriptions
        GET /v1/subscriptions/export | exportSubscriptions | Export your subscriptions
        GET /v1/subscriptions/{id} | getSubscription | Get a subscription
        PATCH /v1/subscriptions/{id} | updateSubscription | Edit, pause or resume a subscription
        DELETE /v1/subscriptions/{id} | deleteSubscription | Unsubscribe
        GET /v1/subscriptions/{id}/waiting | getWaiting | Explain what a composite waits for
    """,
    "notifications": """
        GET /v1/subscriptions/{id}/notifications | listSubscriptionNotifications | List a subscription's notifications
        GET /v1/notifications | listNotifications | List your notifications
        GET /v1/notifications/stream | streamNotifications | Stream your notifications
    """,
    "channels": """
        GET /v1/subscriptions/{id}/channel | getChannel | Get a subscription's channel
        POST /v1/subscriptions/{id}/channel/pause | pauseChannel | Pause a channel
        POST /v1/subscriptions/{id}/channel/resume | resumeChannel | Resume a channel
        POST /v1/subscriptions/{id}/channel/rotate-secret | rotateWebhookSecret | Rotate a webhook's secret
        GET /v1/notices | listNotices | List notices about your channels
        POST /v1/notices/seen | markNoticesSeen | Mark notices as seen
        GET /v1/operator/channels | listTroubledChannels | List channels in trouble
        GET /confirm/{token} | showConfirmation | Show the page of a confirmation link
        POST /confirm/{token} | confirmAddress | Confirm a mail address
        GET /unsubscribe/{token} | showUnsubscription | Show the page of an unsubscribe link
        POST /unsubscribe/{token} | unsubscribeAddress | Stop mails to an address
    """,
    "deliveries": """
        GET /v1/subscriptions/{id}/deliveries | listDeliveries | List deliveries
        GET /v1/subscriptions/{id}/deliveries/{number} | getDelivery | Get a delivery with its attempts
        POST /v1/subscriptions/{id}/replay | replayDeliveries | Send deliveries again
        POST /v1/subscriptions/{id}/test-delivery | sendTestDelivery | Send a test delivery
    """,
    "schema": """
        GET /v1/schema | getSchema | Get the schema
        GET /v1/schema/history | listSchemaChanges | List the changes of the schema
        POST /v1/schema/domains | createDomain | Create a domain
        POST /v1/schema/domains/{name}/values | addDomainValue | Add a value to a domain
        POST /v1/schema/attributes | createAttribute | Create an attribute
        POST /v1/schema/event-types | createEventType | Create an event type
        POST /v1/schema/event-types/{name}/attributes | addEventTypeAttribute | Add an attribute to an event type
        POST /v1/schema/event-types/{name}/headline | setHeadline | Name the attribute that is shown as a title
    """,
    "accounts": """
        POST /v1/accounts | createAccount | Register
        GET /v1/accounts/me | getOwnAccount | Get your account
        POST /v1/accounts/me/password | changePassword | Change your password
        POST /v1/accounts/me/delete | deleteOwnAccount | Delete your account
        PATCH /v1/accounts/{username} | updateAccountScopes | Change an account's scopes
        PUT /v1/accounts/{username}/quota | setAccountQuota | Set an account's quota
        POST /v1/tokens | createToken | Log in
        GET /v1/tokens | listTokens | List your tokens
        DELETE /v1/tokens/current | deleteCurrentToken | Log out
        DELETE /v1/tokens/{id} | deleteToken | Delete a token
    """,
    "network": """
        GET /v1/network | getNetwork | Get the network as this server knows it
        POST /v1/network/invitations | inviteServer | Invite a server to link to this one
        GET /v1/network/links | listLinks | List the links of this server
        POST /v1/network/links | linkServer | Link this server to another one
        DELETE /v1/network/links/{name} | removeLink | Remove a link
        POST /v1/network/home | takeHome | Make this server the home
        POST /v1/network/orders | orderNetwork | Ask the home to change the network
        GET /v1/network/events | searchNetwork | Search the events of all servers
        GET /v1/network/advertisements | listAdvertisements | List advertisements
        POST /v1/network/advertisements | createAdvertisement | Announce what you will publish
        DELETE /v1/network/advertisements/{id} | withdrawAdvertisement | Withdraw an advertisement
        POST /v1/network/tickets | createTicket | Get a ticket for subscriptions to move here
        POST /v1/network/moves | moveSubscriptions | Move subscriptions to another server
        GET /v1/network/moves | listMoves | List the subscriptions that are moving away
    """,
    "documents": """
        GET /schema.json | getJsonSchema | Get the JSON Schema of events
        GET /asyncapi.json | getAsyncApi | Get the AsyncAPI document
        GET /dtds/{name}.dtd | getDtd | Get a DTD of the XML protocol
    """,
    "operations": """
        GET /healthz | getHealth | Check that the service runs
        GET /readyz | getReadiness | Check that the service is ready
        GET /metrics | getMetrics | Get metrics for Prometheus
    """,
}
OPERATIONS = {
    request.strip(): Operation(tag, id.strip(), summary.strip())
    for tag, lines in _TABLE.items()
    for request, id, summary in (line.split("|") for line in lines.strip().splitlines())
}


def operation_of(method: str, path: str) -> Operation:
    try:
        return OPERATIONS[f"{method} {path}"]
    except KeyError:
        raise LookupError(f"documents/operations.py has no name for {method} {path}") from None
