"""The HTTP API: the routes of each resource, the shapes of bodies, the documents that describe both.

Resources with several modules have a package each. `requests` and `shapes` are what every route uses; `problems` turns
errors into answers.
"""
