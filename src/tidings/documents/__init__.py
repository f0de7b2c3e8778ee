"""XML documents and many paths at once: documents as flat arrays, and an index of XPath filters over them.

In: the texts of paths and the bytes of documents. Out: for each document, the numbers of the paths that hold."""
