"""XML documents and paths over them. So far the language of paths, a subset of XPath 1.0."""
