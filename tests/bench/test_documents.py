"""The benchmark of paths runs, and would notice wrong matches."""

import pytest

from tidings.bench import documents
from tidings.bench.agreement import Disagreement
from tidings.bench.large_documents import filled
from tidings.documents.index.path_index import PathIndex
from tidings.workloads.documents import DocumentWorkload


@pytest.mark.slow
def test_a_small_run(monkeypatch, capsys):
    monkeypatch.setattr(documents, "_WARM", 5)
    monkeypatch.setattr(documents, "_MEASURED", 3)
    documents.run(DocumentWorkload("xmark", tests=1), [100])
    assert "100" in capsys.readouterr().out.splitlines()[-1]


def test_wrong_matches_are_noticed(monkeypatch):
    workload = DocumentWorkload("xmark")
    paths, some = workload.paths(20, 5), workload.documents(5)
    documents.check(filled(paths), paths, some)
    monkeypatch.setattr(PathIndex, "add", lambda self, number, path: None)
    with pytest.raises(Disagreement):
        documents.check(filled(paths), paths, some)


def test_the_index_that_is_measured_is_the_one_that_is_checked(monkeypatch):
    checked = []
    monkeypatch.setattr(documents, "check", lambda index, paths, some: checked.append((len(index), len(paths))))
    monkeypatch.setattr(documents, "_WARM", 3)
    monkeypatch.setattr(documents, "_MEASURED", 2)
    monkeypatch.setattr(documents, "best", lambda work: (work(), 1.0)[1])
    documents.run(DocumentWorkload("xmark"), [20, 30])
    assert checked == [(20, 20), (30, 30)]
