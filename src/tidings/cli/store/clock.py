"""`tidings clock`: whether a store believes its clock, and how an operator says that it may."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from tidings.cli.store.stores import Data, StoreUrl, opened_store
from tidings.cli.terminal import messages, output, plain


def clock(
    action: Annotated[
        Literal["show", "confirm"], typer.Argument(help="Show the clock's state, or confirm that it is right.")
    ] = "show",
    data: Data = None,
    store: StoreUrl = "",
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Show whether the store's clock has jumped, and confirm the time when it is right.

    After a jump nothing is accepted, expired or deleted, so that a wrong clock destroys nothing. If the clock is wrong,
    set it right, and all goes on by itself. If it is right now and was wrong before, confirm it: what has expired or
    is too old by the new time then goes at once.

    Example: tidings clock confirm --data data
    """
    with opened_store(data, store) as opened:
        reading = opened.clock.look() if action == "show" else opened.confirm_clock()
    told = {"says": str(reading.said), "expected": str(reading.now), "jump_seconds": reading.jump / 1_000_000}
    if as_json:
        output.print_json(data=told | {"right": reading.is_right or action == "confirm"})
    elif action == "confirm":
        messages.print(plain(f"confirmed: it is {reading.said}"), soft_wrap=True)
    else:
        output.print(
            plain(f"right: it is {reading.said}" if reading.is_right else str(reading.problem)), soft_wrap=True
        )
