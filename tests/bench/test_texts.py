"""The benchmarks of texts run, would notice wrong matches, and no hostile text costs too much."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.feeds.real_files import SHARED
from tidings.bench import patterns
from tidings.bench.agreement import Disagreement
from tidings.bench.texts import similarity
from tidings.bench.texts.hostile import hostile_texts
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.workloads.news import News

MOST = 50  # times an ordinary text of the same size


@pytest.mark.slow
def test_a_small_run_of_patterns(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "one.xml").write_text("<story>Some\n <b>real words</b></story>")
    (tmp_path / "none.xml").write_text("<story/>")
    assert patterns.real_texts(tmp_path) == ["Some real words"]
    patterns.main(["--patterns", "300", "--texts", "60", "--plans", str(tmp_path), "--real", str(tmp_path)])
    lines = capsys.readouterr().out.splitlines()
    assert "real texts of 1 documents, 3 words" in lines[-1]
    assert all(float(line.split()[1]) > 0 for line in (lines[-1], lines[-3]))
    patterns.main(["--patterns", "300", "--texts", "60", "--plans", str(tmp_path)])
    assert not any("built" in line for line in capsys.readouterr().out.splitlines())


@pytest.mark.slow
def test_wrong_matches_of_patterns_are_noticed() -> None:
    news = News()
    texts, wanted = news.texts(30), news.patterns(300)
    batch = news.batch(texts)
    right = patterns._built(news, wanted, None, batch)
    patterns._check(right, wanted, texts, batch)
    with pytest.raises(Disagreement):
        patterns._check(right, wanted[1:], texts, batch)


@pytest.mark.skipif(not SHARED.exists(), reason="shared/data is not beside this repository")
def test_the_real_documents_have_texts() -> None:
    assert len(patterns.real_texts(SHARED / "xml-newsml-nitf")) > 20


@pytest.mark.slow
def test_a_small_run_of_similarity(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("scipy")
    similarity.main(["--filters", "300", "--texts", "60", "--scipy-texts", "20", "--least", "0.2"])
    last = capsys.readouterr().out.splitlines()[-1].split()
    assert float(last[0]) == 0.2
    assert float(last[1]) > 0


@pytest.mark.slow
def test_no_hostile_text_costs_more_than_ordinary_ones() -> None:
    news = News()
    matcher = BoxMatcher(news.catalog, 1)
    wanted = [f"body contains ({a} near[5] {b} and not {c})" for _, (a, b, c) in news.patterns(500)]
    matcher.add_texts([str(n) for n in range(len(wanted))], wanted)
    measured = list(hostile_texts(matcher, news))
    assert len(measured) > 10
    assert {one.name: one.ratio for one in measured if one.ratio > MOST} == {}
