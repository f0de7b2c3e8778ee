"""The service: what people and programs speak to, over HTTP and over XML.

    request ──> door/ ──> api/, pages/ or xml/ ──> actions/ ──> gateway ──> journal and store
                              live/ <── notifications

`Gateway` is what all have in common: callers, the journal, reads beside the event loop. `http` makes the web
application of it, `xml.daemon` the thesis's daemon; `service` runs both, with the processes of `workers`.
"""

from tidings.service.gateway import Gateway

__all__ = ["Gateway"]
