"""Kernels without counts of references, which need no arrays of their own."""

import numba
import numpy as np
import pytest

from tidings.documents.index.collect import collect
from tidings.documents.tokenizer import tokenize
from tidings.kernels.compiled import bare_kernel

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="kernels are not compiled")


def test_a_bare_kernel_that_makes_an_array_is_refused():
    """So numba counts no references in it: that took two thirds of the time to read a document."""

    @bare_kernel
    def doubled(values):
        return len(np.empty(2 * len(values)))

    doubled._cache = numba.core.caching.NullCache()
    with pytest.raises(numba.core.errors.TypingError, match="returning of array"):
        doubled(np.ones(2))


@pytest.mark.parametrize("hot", [tokenize, collect])
def test_the_kernels_that_every_document_goes_through_are_bare(hot):
    assert hot.targetoptions["_nrt"] is False
