"""The filter language: text to tree (`parser`), tree against a catalog (`binder`), alternatives
(`normal_form`), text again (`printer`), and what can be known without an event (`analysis`): `covering`,
`overlapping`, `satisfiability`."""

from tidings.language.analysis.covering import covers
from tidings.language.analysis.overlapping import overlaps
from tidings.language.filter import Filter, Subscription
from tidings.language.parser import parse
from tidings.language.printer import print_filter
from tidings.language.subscription_file import read_subscriptions

__all__ = ["Filter", "Subscription", "covers", "overlaps", "parse", "print_filter", "read_subscriptions"]
