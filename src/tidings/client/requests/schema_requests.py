"""Requests about the schema, one function each."""

from __future__ import annotations

from tidings.client.request import Request, change_request, member, read_request, segment
from tidings.schema import Catalog, growth, json_form


def schema() -> Request[Catalog]:
    return read_request("/v1/schema", lambda answer: json_form.read(answer.json()))


def grow(change: growth.Change) -> Request[int]:
    """One change; the answer is the new version."""
    match change:
        case growth.CreateDomain(domain):
            path, body = "domains", json_form.write_domain(domain)
        case growth.CreateAttribute(attribute):
            path, body = "attributes", {"name": attribute.name, "domain": attribute.domain}
        case growth.CreateEventType(event_type):
            path, body = "event-types", json_form.write_event_type(event_type)
        case growth.ExtendEventType(name, use):
            path, body = f"event-types/{segment(name)}/attributes", json_form.write_use(use)
        case growth.AppendValue(name, value):
            path, body = f"domains/{segment(name)}/values", {"value": value}
        case growth.AppendNode(name, node, parent):
            path, body = f"domains/{segment(name)}/values", {"node": node, "parent": parent}
        case growth.SetHeadline(name, attribute_name):
            path, body = f"event-types/{segment(name)}/headline", {"attribute": attribute_name}
        case growth.SetStatistics():
            raise json_form.SchemaForm("set_statistics", "a server counts itself; see tidings journal count-words")
    return change_request("POST", f"/v1/schema/{path}", member("version"), body)
