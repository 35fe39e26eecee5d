"""The mark of an installation is the legal value of a label, and no other installation's."""

import re

import pytest
import yaml

from tests.support.charts import rendered

LONGEST = "a-release-name-as-long-as-helm-allows-it-to-be-53-chars"[:53]
VALUE = re.compile(r"[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?")


def mark(release: str, namespace: str) -> str:
    ran = rendered.run(
        "template", release, str(rendered.CHART), "-n", namespace, "-f", str(rendered.TRIAL)
    )
    assert ran.returncode == 0, ran.stderr
    objects = rendered.parse(ran.stdout)
    (held,) = [object_ for object_ in objects if "cluster.yaml" in (object_.get("data") or {})]
    return str(yaml.safe_load(held["data"]["cluster.yaml"])["installation"])


@pytest.mark.parametrize("release", ["shop", LONGEST])
@pytest.mark.parametrize("namespace", ["waypost", "n" * 63])
def test_it_is_a_label_and_differs_by_release_and_namespace(release: str, namespace: str) -> None:
    own = mark(release, namespace)

    assert VALUE.fullmatch(own)
    assert own not in (mark(f"{release[:-1]}x", namespace), mark(release, f"{namespace[:-1]}x"))
    assert own == mark(release, namespace)
