"""What schemas are called in the OpenAPI document: generated clients have a type of each name.

In the code `Subscription` is the store's; the shape of the API's answer is `SubscriptionSeen`. Outside there is only
one of them, so it has the plain name.
"""

from __future__ import annotations

import json
import re
from typing import Any

_SEEN = "Seen"
_NAMES = {
    "AdvertisementMade": "NewlyAdvertised",
    "Advertisements": "AdvertisementPage",
    "Change": "SchemaChange",
    "ChangedSubscription": "SubscriptionChange",
    "ChannelSeen": "ChannelStatus",
    "ChildSeen": "WorkerStatus",
    "DaySeen": "DayCount",
    "Deliveries": "DeliveryPage",
    "DeliveryTold": "DeliveryDetails",
    "EventSeen": "StoredEvent",
    "EventToExplain": "ExplainRequest",
    "EventsSeen": "EventPage",
    "FilterToTest": "FilterTestRequest",
    "Grown": "SchemaVersion",
    "History": "SchemaChangePage",
    "LinkMade": "LinkedServer",
    "LinkState": "LinkStatus",
    "Links": "LinkPage",
    "LogIn": "TokenRequest",
    "LoggedIn": "NewToken",
    "Moves": "MovePage",
    "Notices": "NoticePage",
    "Notifications": "NotificationPage",
    "PublishedMany": "PublishedBatch",
    "QueriesSeen": "QueryPage",
    "QueryAsked": "QueryStarted",
    "QueryEventsSeen": "QueryEventPage",
    "RefusedSeen": "RefusedEvent",
    "Registered": "NewAccount",
    "SecretMade": "NewSecret",
    "Subscriptions": "SubscriptionPage",
    "TestSeen": "FilterTest",
    "Tokens": "TokenPage",
    "TroubledChannels": "TroubledChannelPage",
}
_PLACE = "#/components/schemas/"
_REFERENCE = re.compile(f'"{_PLACE}([^"]+)"')


def public_name(name: str) -> str:
    return _NAMES.get(name) or name.removesuffix(_SEEN)


def with_public_names(document: dict[str, Any]) -> dict[str, Any]:
    """A copy in which schemas, and what refers to them, have their public names."""
    text = _REFERENCE.sub(lambda found: f'"{_PLACE}{public_name(found[1])}"', json.dumps(document))
    made: dict[str, Any] = json.loads(text)
    schemas = made["components"]["schemas"]
    renamed = {public_name(name): schema for name, schema in schemas.items()}
    assert len(renamed) == len(schemas), "two schemas have one public name"
    for name, schema in renamed.items():
        schema["title"] = name
    made["components"]["schemas"] = dict(sorted(renamed.items()))
    return made


def with_plain_members(node: Any) -> Any:
    """A copy for generators of clients: objects of any content say so, or their type would have no members; and what
    is null unless given has no default, or it would have to be given."""
    if isinstance(node, list):
        return [with_plain_members(one) for one in node]
    if not isinstance(node, dict):
        return node
    made = {key: with_plain_members(value) for key, value in node.items()}
    if "default" in made and made["default"] is None:
        del made["default"]
    kinds = made.get("type")
    if (kinds == "object" or (isinstance(kinds, list) and "object" in kinds)) and "properties" not in made:
        made.setdefault("additionalProperties", True)
    return made


def with_shared_schemas(node: Any, schemas: dict[str, Any]) -> Any:
    """A copy in which each object with a title is moved to `schemas` and referred to."""
    if isinstance(node, list):
        return [with_shared_schemas(one, schemas) for one in node]
    if not isinstance(node, dict):
        return node
    made = {key: with_shared_schemas(value, schemas) for key, value in node.items()}
    if made.get("type") != "object" or "title" not in made:
        return made
    name = made["title"]
    assert schemas.setdefault(name, made) == made, f"two schemas are called {name}"
    return {"$ref": f"{_PLACE}{name}"}
