"""The filter languages of the CloudEvents world: CESQL 1.0 (`parser`, `evaluator`, `printer`), the filters array of the
subscriptions API (`filters`), and the event as its CloudEvent (`cloud_event`). Text in, values and errors out; what the
core language can say of it is found by `translation`."""

from tidings.language.cesql.evaluator import Outcome, evaluate, passes
from tidings.language.cesql.expression import Expression
from tidings.language.cesql.filters import FiltersArray, parse_filters
from tidings.language.cesql.parser import parse_cesql
from tidings.language.cesql.printer import print_cesql

__all__ = [
    "Expression",
    "FiltersArray",
    "Outcome",
    "evaluate",
    "parse_cesql",
    "parse_filters",
    "passes",
    "print_cesql",
]
