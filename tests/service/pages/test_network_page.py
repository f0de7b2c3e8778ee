"""The drawing of a network."""

from tidings.service.pages.network_pages import drawn


def test_servers_and_links_are_drawn() -> None:
    names = ("athens", "berlin", "cairo")
    drawing = drawn(
        {
            "name": "berlin",
            "servers": [{"name": name, "reached": name != "cairo"} for name in names],
            "tree": [["athens", "berlin"]],
            "mutual": [
                {"servers": list(servers), "weight": 1.0}
                for servers in (("athens", "berlin"), ("berlin", "cairo"), ("cairo", "nowhere"))
            ],
        }
    )
    assert [(dot.name, dot.kind) for dot in drawing.dots] == [
        ("berlin", "own"),
        ("athens", "reached"),
        ("cairo", "lost"),
    ]
    assert [line.in_tree for line in drawing.lines] == [True, False]
    assert all(0 < dot.x < drawing.width and 0 < dot.y < drawing.height for dot in drawing.dots)
    assert len({(dot.x, dot.y) for dot in drawing.dots}) == 3
    assert drawing.summary == "3 servers, 2 links, 1 of them in the tree"
