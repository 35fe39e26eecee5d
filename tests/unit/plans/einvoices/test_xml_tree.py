"""Documents that are written at once keep their own prefixes."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from plans.einvoices.xml_tree import Tree


def test_two_threads_write_one_prefix_of_two_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    both, really = threading.Barrier(2), ElementTree.tostring

    def tostring(root: Element, **options: Any) -> Any:
        # Both threads have registered their prefixes, if they can be here at once.
        with suppress(threading.BrokenBarrierError):
            both.wait(timeout=0.5)
        return really(root, **options)

    monkeypatch.setattr(ElementTree, "tostring", tostring)
    trees = [Tree.begin("ubl:Root", {"ubl": f"urn:{kind}"}) for kind in ("invoice", "credit-note")]
    with ThreadPoolExecutor(2) as threads:
        written = list(threads.map(Tree.to_bytes, trees))

    assert [b'<ubl:Root xmlns:ubl="urn:' in text for text in written] == [True, True]
