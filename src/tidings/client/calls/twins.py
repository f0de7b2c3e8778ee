"""The two clients have the same calls, explained once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T", bound=type[Any])


def explained_by(twin: type[Any]) -> Callable[[T], T]:
    """Gives each method the docstring that the other class has for it."""

    def explain(explained: T) -> T:
        for name, method in vars(twin).items():
            if not name.startswith("_"):
                vars(explained)[name].__doc__ = method.__doc__
        return explained

    return explain
