"""`tidings notices`: what you must know of your channels at a server, as that one was disabled."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from tidings.cli.server.server import DEFAULT_SERVER, AsJsonLines, Server, Token, connected
from tidings.cli.terminal import counted, messages, output, plain


def notices(
    server: Server = DEFAULT_SERVER,
    token: Token = "",
    after: Annotated[str, typer.Option(metavar="NUMBER", help="Only notices after this number.")] = "",
    unseen: Annotated[bool, typer.Option("--new", help="Only unseen notices.")] = False,
    seen: Annotated[bool, typer.Option("--seen", help="Mark the shown notices as seen.")] = False,
    as_json: AsJsonLines = False,
) -> None:
    """Show notices about your channels: deliveries that failed, channels that were disabled, and why.

    Example: tidings notices --new --seen
    """
    shown = 0
    with connected(server, token) as client:
        while (page := client.notices(after or None)).items:
            for one in page.items:
                if unseen and one["seen"]:
                    continue
                shown += 1
                if as_json:
                    typer.echo(json.dumps(one))
                else:
                    mark = " " if one["seen"] else "*"
                    called = one.get("subscription_name") or one["subscription"]
                    line = f"{mark} {one['number']}  {one['stored']}  {called}  {one['text']}"
                    output.print(plain(line), soft_wrap=True)
            after = page.next or after
        if seen and shown:
            client.see_notices(after)
    messages.print(plain(counted(shown, "notice", "notices")))
