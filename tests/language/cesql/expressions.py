"""Generated CESQL expressions, with few names and values so that little is missing and much is equal."""

from __future__ import annotations

from hypothesis import strategies as st

LITERALS = ("TRUE", "false", "0", "1", "-1", "5", "2147483647", "-2147483648", "''", "'a'", "'5'", "'true'", "'x%'")
PATTERNS = ("'a%'", "'%a'", "'_'", "'%5%'", "'a\\%'", "'%'", "''", "'a'", "'%b_'")
BINARY = ("=", "!=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "AND", "OR", "XOR")


def expression_texts(names: tuple[str, ...], literals: tuple[str, ...] = LITERALS) -> st.SearchStrategy[str]:
    named = st.sampled_from(names)
    leaf = st.one_of(st.sampled_from(literals), named, named.map("EXISTS {}".format))

    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        one = inner.map("({})".format)
        listed = st.lists(inner, min_size=1, max_size=3).map(", ".join)
        return st.one_of(
            st.builds("{} {} {}".format, one, st.sampled_from(BINARY), one),
            st.builds("{} {} {}".format, inner, st.sampled_from(BINARY), inner),
            st.builds("{} {} {}".format, one, st.sampled_from(("LIKE", "not like")), st.sampled_from(PATTERNS)),
            st.builds("{} {} ({})".format, one, st.sampled_from(("IN", "NOT IN")), listed),
            one.map("NOT {}".format),
            one.map("-{}".format),
            st.builds("{}({})".format, st.sampled_from(("LENGTH", "upper", "INT", "BOOL", "CONCAT", "ABS")), inner),
            st.builds("{}({}, {})".format, st.sampled_from(("LEFT", "SUBSTRING", "RIGHT")), inner, inner),
        )

    return st.recursive(leaf, larger, max_leaves=8)
