"""Commands of `tidings journal` that append one entry: withdraw, pause, resume, quota, profile."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from tidings.cli.store.stores import Data, StoreUrl, opened_store
from tidings.cli.terminal import output, plain_errors

if TYPE_CHECKING:  # SQLAlchemy takes long to load, and most commands need no store
    from tidings.store import Draft

Json = Annotated[bool, typer.Option("--json", help="For machines.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="The subscription's id.", show_default=False)]


def withdraw(id: Id, data: Data = None, store: StoreUrl = "", as_json: Json = False) -> None:
    """Withdraw a subscription. Its id can be used again.

    Example: tidings journal withdraw s1 --data data
    """
    from tidings.store import Withdraw

    _append(Withdraw(id), "withdrawn", data, store, as_json)


def pause(id: Id, data: Data = None, store: StoreUrl = "", as_json: Json = False) -> None:
    """Pause a subscription: it ignores events from now on.

    Example: tidings journal pause s1 --data data
    """
    from tidings.store import Pause

    _append(Pause(id), "paused", data, store, as_json)


def resume(id: Id, data: Data = None, store: StoreUrl = "", as_json: Json = False) -> None:
    """Resume a paused subscription: it matches events from now on.

    Example: tidings journal resume s1 --data data
    """
    from tidings.store import Resume

    _append(Resume(id), "resumed", data, store, as_json)


def quota(
    matches: Annotated[
        int, typer.Argument(metavar="MATCHES", min=0, help="Matches per minute; 0: no limit.", show_default=False)
    ],
    account: Annotated[
        str, typer.Option(metavar="NAME", help="For this account. Default: all accounts without their own quota.")
    ] = "",
    data: Data = None,
    store: StoreUrl = "",
    as_json: Json = False,
) -> None:
    """Set how many matches per minute an account may have; the rest are counted, not stored.

    Example: tidings journal quota 500000 --account ann --data data
    """
    from tidings.store import SetQuota

    _append(SetQuota(matches, account), "set", data, store, as_json)


def profile(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What composites write after 'using'.")],
    options: Annotated[
        str, typer.Argument(metavar="OPTIONS", help="As after an operator; '' removes the profile.", show_default=False)
    ],
    data: Data = None,
    store: StoreUrl = "",
    as_json: Json = False,
) -> None:
    """Set options that composites inherit with 'using NAME' where they do not set their own.

    Existing composites do not change: their stored text is complete.

    Example: tidings journal profile auctions "within 10 min select last, first" --data data
    """
    from tidings.store import SetProfile

    if not options:
        with opened_store(data, store) as journal:
            known = journal.composite_profiles()
        if name not in known:
            there = f"there are: {', '.join(sorted(known))}" if known else "there are none"
            raise typer.BadParameter(f"no profile {name!r}; {there}", param_hint="'NAME'")
    _append(SetProfile(name, options), "set" if options else "removed", data, store, as_json)


def _append(draft: Draft, done: str, data: Path | None, store: str, as_json: bool) -> None:
    from tidings.store import Accepted, Refused

    with opened_store(data, store) as journal:
        (outcome,) = journal.append([draft])
        if isinstance(outcome, Refused):
            raise outcome.error
    assert isinstance(outcome, Accepted)
    figures = {"position": outcome.position, "accepted": str(outcome.accepted)}
    tell(figures, f"{done} at position {outcome.position:,}", as_json)


def tell(figures: dict[str, Any], told: str | Table, as_json: bool) -> None:
    with plain_errors():
        if as_json:
            output.print_json(data=figures)
        else:
            output.print(told)
