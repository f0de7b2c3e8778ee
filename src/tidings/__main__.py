"""`python -m tidings`: the same as the command `tidings`."""

from tidings.cli.main import app

app()
