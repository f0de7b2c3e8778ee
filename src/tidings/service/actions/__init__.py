"""What the service does, each operation once: HTTP, XML and the pages parse a request, call one of these and show what
came of it.

An action takes the gateway, who asks and plain typed values; it returns a value or raises a TidingsError. It knows
nothing of HTTP, XML or HTML, and whether the caller may ask at all was decided before. docs/service.md has a drawing.
"""
