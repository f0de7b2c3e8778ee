"""Kernels are plain functions: they give the same answers when nothing is compiled."""

import os
import subprocess
import sys

import pytest

RUN = """
from tests.matching.shop import EVENTS, MIXED, SHOP, expected, filled, matched
from tidings.matching.algorithms import make_matcher
assert matched(filled(make_matcher({name!r}, SHOP), *MIXED), EVENTS) == expected(MIXED, EVENTS)
"""


@pytest.mark.parametrize("name", ["gough", "aguilera", "neon", "typed-tree"])
def test_kernels_run_uncompiled(name):
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, "-W", "error", "-c", RUN.format(name=name)], env=environment, check=True)
