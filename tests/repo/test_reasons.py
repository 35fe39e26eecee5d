"""The operators' table of reasons is the one that the code has."""

import re

from controlplane.core import reasons
from controlplane.core.reasons import Reason
from tests.support import source_tree

DOCUMENT = source_tree.ROOT / "docs" / "operate" / "conditions.md"


def test_the_document_has_the_table_of_the_code() -> None:
    """``python -m controlplane.core.reasons`` writes it."""
    text = DOCUMENT.read_text()

    assert reasons.with_table(text) == text


def test_every_reason_has_a_help_and_stands_once_in_the_table() -> None:
    table = reasons.table().splitlines()[2:]
    named = [name for row in table for name in re.findall(r"`(\w+)`", row.split("|")[1])]

    assert sorted(named) == sorted(Reason)
    assert all(reason.help.endswith((".", ")")) for reason in Reason)


def test_reasons_are_named_by_the_enumeration_alone() -> None:
    """A reason that is compared as text would not be found by who renames or removes it."""
    names = "|".join(Reason)
    found = [
        f"{path.relative_to(source_tree.ROOT)}:{number}"
        for path in source_tree.list_modules()
        if path.name != "reasons.py" and "workers" in path.parts
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(rf"(reason[^,]*(==|!=|in|=) ?\(?)[\"']({names})[\"']", line)
    ]

    assert found == []
