"""XPath outside the subset: how errors name it, and the way to say it where there is one."""

from __future__ import annotations

FUNCTIONS = frozenset(("not", "contains", "starts-with"))  # those taken, in tests

AXES = {
    "child": "leave it out",
    "descendant": "write '//'",
    "descendant-or-self": "write '//'",
    "attribute": "write '@'",
    "self": "write '.' in a test, or leave it out",
    "parent": "move what follows into a test: //a[b]/c for //b/../c",
    "ancestor": "begin at the ancestor and test for what is below: //a[.//b]",
    "ancestor-or-self": "begin at the ancestor and test for what is below: //a[.//b]",
}

_NODES = {
    "node": ("node()", "write '*', '@*' or text()"),
    "comment": ("comment()", "comments are dropped before matching"),
    "processing-instruction": ("processing-instruction()", "processing instructions are dropped before matching"),
    "text": ("text() with an argument", "write text()"),
}
_INSTEAD = {
    "position": "select by content: [@id = 'x']",
    "last": "select by content: [@id = 'x']",
    "count": "test for a node: [a]",
    "name": "write the name as a step",
    "local-name": "write the name as a step",
    "namespace-uri": "declare a prefix and write prefix:name",
    "string": "compare the path itself: [a = 'x']",
    "number": "compare the path with a number: [a < 3]",
    "boolean": "write the path alone: [a]",
    "normalize-space": "compare the text as it is, or use contains(…)",
    "true": "leave the test out",
    "not": "it belongs into a test: //a[not(b)]",
    "contains": "it belongs into a test: //a[contains(., 'x')]",
    "starts-with": "it belongs into a test: //a[starts-with(., 'x')]",
}


def refused_function(name: str) -> tuple[str, str]:
    """The construct, and the way to say it or an empty text."""
    if name in _NODES:
        return _NODES[name]
    named = f"a position, {name}()" if name in ("position", "last") else f"the function {name}()"
    return named, _INSTEAD.get(name, "")
