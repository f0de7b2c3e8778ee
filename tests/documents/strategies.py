"""Random documents over the names and values of the random paths."""

from hypothesis import strategies as st

from tests.paths.strategies import NAMES, VALUES

_text = st.sampled_from(
    [value.encode() for value in VALUES] + [b"&lt;", b"<!--x-->", b"<?p?>", b"<![CDATA[1]]>", b"\r\n"]
)
_texts = st.lists(_text, max_size=3).map(b"".join)
_values = st.sampled_from([value.encode() for value in VALUES] + [b"&#10;", b"\t"])
_attributes = st.dictionaries(st.sampled_from([b"k", b"j", b"n:k"]), _values, max_size=2)
_names = st.sampled_from([*(name.encode() for name in NAMES), b"n:a"])


def _element(name, attributes, space, parts):
    written = b"".join(b" %s='%s'" % item for item in attributes.items()) + space
    return b"<%s%s>%s</%s>" % (name, written, b"".join(parts), name) if parts else b"<%s%s/>" % (name, written)


_spaces = st.sampled_from([b"", b"", b"", b" xmlns='urn:n'", b" xmlns='urn:d'", b" xmlns:n='urn:n'"])
_leaf = st.builds(_element, _names, _attributes, _spaces, st.just([]))
_elements = st.recursive(
    _leaf,
    lambda inner: st.builds(_element, _names, _attributes, _spaces, st.lists(inner | _texts, max_size=4)),
    max_leaves=12,
)
documents = st.builds(
    lambda inner, texts: b"<a xmlns:n='urn:n'>%s%s</a>" % (texts, inner), _elements, _texts
) | st.builds(lambda inner: b"<or xmlns:n='urn:m'>%s</or>" % inner, _elements)
