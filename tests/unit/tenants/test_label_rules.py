"""Which labels are legal, and how text becomes labels."""

import pytest

from controlplane.core.errors import Invalid
from tenants import label_rules


def test_text_and_labels_are_each_other() -> None:
    labels = label_rules.parse("team=checkout, env=prod  urgent")

    assert labels == {"team": "checkout", "env": "prod", "urgent": ""}
    assert label_rules.parse(label_rules.text(labels)) == labels


@pytest.mark.parametrize(
    "text",
    ["Team=x", "=x", "a=b=c", "team=<b>", "team=x team=y", "-a=1", f"{'k' * 64}=v", f"k={'v' * 64}",
     " ".join(f"k{n}=v" for n in range(17))],
)  # fmt: skip
def test_what_breaks_a_rule_is_refused(text: str) -> None:
    with pytest.raises(Invalid) as refusal:
        label_rules.parse(text)

    assert refusal.value.error_code == "labels.invalid"
