"""The shared vocabulary of all publishers: domains, attributes, event types, and how they may grow.

`Catalog` is the schema at one version with everything looked up that others ask for; `growth.grow` makes the
next version. `json_form` and `xml_form` read and write it, `files` as files.
"""

from tidings.schema.catalog import Attribute, AttributeUse, Catalog, EventType, View
from tidings.schema.domain import Domain, Kind
from tidings.schema.hierarchy import Hierarchy
from tidings.schema.values import Instant

__all__ = [
    "Attribute",
    "AttributeUse",
    "Catalog",
    "Domain",
    "EventType",
    "Hierarchy",
    "Instant",
    "Kind",
    "View",
]
