"""Filters of other systems as text of the filter language: event patterns of AWS EventBridge, bindings of a headers
exchange. They are converted once, on paper; what is subscribed is the text."""
