"""The documents that describe the service, generated from the code and the catalog: OpenAPI, AsyncAPI, JSON Schema."""
