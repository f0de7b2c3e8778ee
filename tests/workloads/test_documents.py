"""Documents and paths drawn from grammars."""

import pytest
from lxml import etree

from tidings.paths.parser import parse_path
from tidings.paths.printer import path_text
from tidings.workloads import documents
from tidings.workloads.documents import DocumentWorkload


@pytest.mark.parametrize("name", ["xmark", "nitf"])
def test_documents_of_100_to_300_elements_the_same_for_a_seed(name):
    documents = DocumentWorkload(name).documents(5)
    assert documents == DocumentWorkload(name).documents(5)
    assert documents != DocumentWorkload(name, seed=2).documents(5)
    for document in documents:
        assert 90 <= sum(1 for _ in etree.fromstring(document).iter()) <= 330


@pytest.mark.parametrize("tests", [0, 1])
def test_paths_are_distinct_and_hold_for_some_document(tests):
    workload = DocumentWorkload("nitf", tests=tests)
    paths = workload.paths(100, documents=10)
    texts = [path_text(path) for path in paths]
    assert len(set(texts)) == 100
    assert [parse_path(text) for text in texts] == paths
    trees = [etree.fromstring(document) for document in workload.documents(10)]
    for text, path in zip(texts, paths, strict=True):
        assert sum(len(step.tests) for step in path.steps) == tests
        assert any(tree.xpath(f"boolean({text})") for tree in trees), text


def test_more_paths_than_draws_find_are_variants_of_the_ways(monkeypatch):
    workload = DocumentWorkload("xmark")
    drawn = workload.paths(200, documents=5)
    monkeypatch.setattr(documents, "_MOST_DRAWS", 100)
    paths = workload.paths(20_000, documents=5)
    assert len(set(paths)) == 20_000
    assert paths[:30] == drawn[:30]
    trees = [etree.fromstring(document) for document in workload.documents(5)]
    for path in paths[::500]:
        assert any(tree.xpath(f"boolean({path_text(path)})") for tree in trees), path_text(path)
