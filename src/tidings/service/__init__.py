"""The service: what people and programs speak to, over HTTP and over XML.

`Gateway` is what both have in common: callers, the journal, reads beside the event loop. `http` makes the web
application of it, `xml_daemon` the thesis's daemon; `serving` runs both, with the pipeline as a child process.
"""

from tidings.service.gateway import Gateway

__all__ = ["Gateway"]
