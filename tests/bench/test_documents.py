"""The benchmark of paths runs, and would notice wrong matches."""

import pytest

from tidings.bench import documents
from tidings.bench.checking import Disagreement
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
    monkeypatch.setattr(PathIndex, "add", lambda self, number, path: None)
    with pytest.raises(Disagreement):
        documents.check(workload.paths(20, 5), workload.documents(5))
