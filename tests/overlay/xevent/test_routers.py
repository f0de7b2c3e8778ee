"""Shortest ways over the transit-stub topology, against networkx."""

from itertools import pairwise

import networkx
import numpy as np
import pytest

from tidings.overlay.xevent.peers import Peers
from tidings.overlay.xevent.routers import Routers, shortest


def test_the_papers_topology_has_5050_routers() -> None:  # XEvent, section V
    routers = Routers(seed=1)
    assert routers.count == 5050
    graph = networkx.Graph(list(routers.links))
    assert len(graph) == 5050
    assert networkx.is_connected(graph)


@pytest.mark.parametrize("seed", range(3))
def test_ways_are_shortest(seed: int) -> None:
    routers = Routers(seed, domains=3, transits=2, stubs=2, size=4)
    graph = networkx.Graph()
    for one, other in routers.links:
        graph.add_edge(one, other, delay=routers.delay(one, other))
    ends = {link: pair for pair, link in routers.links.items()}
    for one, lengths in networkx.all_pairs_dijkstra_path_length(graph, weight="delay"):
        for other, length in lengths.items():
            assert routers.delay(one, other) == pytest.approx(length)
            way = [ends[link] for link in routers.way(one, other)]
            assert sum(graph.edges[pair]["delay"] for pair in way) == pytest.approx(length)
            walked = networkx.Graph([*way, (one, one)])
            assert networkx.has_path(walked, one, other)


def test_floyd_and_warshall_on_many_graphs_at_once() -> None:
    two = np.array([[[9.0, 1, 5], [1, 9, 1], [5, 1, 9]], [[9.0, 4, 1], [4, 9, np.inf], [1, np.inf, 9]]])
    distances, after = shortest(two)
    assert distances.tolist() == [[[0, 1, 2], [1, 0, 1], [2, 1, 0]], [[0, 4, 1], [4, 0, 5], [1, 5, 0]]]
    assert [int(after[0, 0, 2]), int(after[1, 1, 2])] == [1, 0]


def test_peers_are_a_lan_away_from_their_routers() -> None:
    peers = Peers(50, seed=2)
    assert peers.delay(3, 3) == 0
    assert peers.way(3, 3) == ()
    assert min(peers.delay(0, other) for other in range(1, 50)) >= 2
    assert peers.way(4, 9)[-2:] == (len(peers.routers.links) + 4, len(peers.routers.links) + 9)
    assert peers.links == len(peers.routers.links) + 50
    assert Peers(50, seed=2).ring.ids == peers.ring.ids != Peers(50, seed=3).ring.ids


def test_a_table_entry_that_crashed_costs_a_time_out() -> None:
    peers = Peers(2000, seed=2)
    way, took = peers.route(0, "/a")
    assert took == sum(peers.delay(one, other) for one, other in pairwise(way))
    left = peers.after_crash({way[1]})
    assert left.route(0, "/a")[1] >= 500 > took
    assert way[1] not in left.route(0, "/a")[0]
    assert left.host("/a") == way[-1]
