"""Random paths of the whole subset, over few names so that documents meet them."""

from hypothesis import strategies as st

from tidings.paths.tree import (
    And,
    Attribute,
    Comparison,
    Element,
    Exists,
    Name,
    Not,
    Or,
    Path,
    Step,
    StringTest,
    Text,
)

NAMES = ("a", "b", "or")
VALUES = ("", "x", "xy", "1", "2.5", " -3 ", "07")
axes = st.sampled_from(["child", "child", "descendant"])
element = st.sampled_from([*(Element(Name(name)) for name in NAMES), Element(None), Element(Name("a", "urn:n", "n"))])
leaf = st.sampled_from([Attribute(Name("k")), Attribute(None), Attribute(Name("k", "urn:n", "n")), Text()])
literals = st.sampled_from([*VALUES, 1.0, 2.5, -3.0, 0.0])


def steps(tests, most):
    """Rows of steps with these tests; None: without tests."""
    few = st.just(()) if tests is None else st.lists(tests, max_size=2).map(tuple)
    element_step = st.builds(Step, axes, element, few)
    leaf_step = st.builds(Step, axes, leaf, few)
    return st.builds(
        lambda rows, last: (*rows[:-1], last) if last else tuple(rows),
        st.lists(element_step, min_size=1, max_size=most),
        st.none() | st.none() | leaf_step,
    )


def tests_over(inner):
    relative = st.just(()) | steps(inner, 2)
    atom = (
        st.builds(Exists, relative)
        | st.builds(Comparison, relative, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), literals)
        | st.builds(StringTest, st.sampled_from(["contains", "starts-with"]), relative, st.sampled_from(VALUES))
    )
    several = st.lists(atom, min_size=2, max_size=3).map(tuple)
    return atom | atom | st.builds(Not, atom) | st.builds(And, several) | st.builds(Or, several)


flat_tests = tests_over(None)
nested_tests = flat_tests | tests_over(flat_tests)
paths = st.builds(Path, steps(nested_tests, 3))
plain_paths = st.builds(
    Path,
    st.lists(
        st.builds(Step, axes, st.sampled_from([Element(None), Element(Name("a")), Element(Name("b"))])),
        min_size=1,
        max_size=5,
    ).map(tuple),
)
plain_leaves = st.none() | st.builds(Step, axes, st.sampled_from([Attribute(Name("k")), Attribute(None), Text()]))
leading_anywhere = st.builds(
    lambda path, last: Path((*path.steps[: len(path.steps) - (last is not None)], *((last,) if last else ()))),
    plain_paths,
    plain_leaves,
)
