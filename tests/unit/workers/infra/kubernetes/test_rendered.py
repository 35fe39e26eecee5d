"""What is sent to the API stays the same, for all settings: a change replaces or rewrites objects.

``expected/sent.json`` was made by the builders of plain dictionaries that came before the typed
ones. A digest that differs is a change that every installation applies at its next upgrade, and for
a stateful set a rollout. So change the file only together with the builder, on purpose:
``expected/*.yaml`` show the usual objects literally.
"""

import hashlib
import json
from pathlib import Path

import pytest

from tests.support.infra import rendered
from workers.infra.kubernetes.objects import JsonObject

EXPECTED = json.loads((Path(__file__).parent / "expected" / "sent.json").read_text())
SENT = rendered.applied()


def described(document: JsonObject) -> str:
    """Return kind, name and digest; the order of fields is no part of an object."""
    metadata = document["metadata"]
    assert isinstance(metadata, dict)
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"{document['kind']}/{metadata['name']} {digest}"


@pytest.mark.parametrize("case", SENT)
def test_the_same_objects_are_sent(case: str) -> None:
    assert [described(document) for document in SENT[case]] == EXPECTED["objects"][case]


def test_no_case_is_missing() -> None:
    assert EXPECTED["objects"].keys() == SENT.keys()


def test_template_hashes_stay_so_that_no_rollout_starts() -> None:
    assert rendered.template_hashes() == EXPECTED["template hashes"]
