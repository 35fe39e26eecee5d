"""Every reason that a space on Kubernetes can give, and every alert, is in the manual."""

import re
from pathlib import Path

from tests.charts import rendered

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/operate/conditions.md").read_text()
PLACE = ROOT / "workers/infra/kubernetes"
# Words of Kubernetes that its answers are known by.
_THEIRS = {"FieldManagerConflict", "ValidatingAdmissionPolicy"}


def test_every_reason_is_explained() -> None:
    sources = "".join(each.read_text() for each in sorted(PLACE.glob("*.py")))
    given = set(re.findall(r'reason="([A-Z]\w+)"', sources))
    given |= set(re.findall(r'"([A-Z][a-z]+[A-Z][A-Za-z]+)"', (PLACE / "refusals.py").read_text()))

    assert len(given - _THEIRS) > 25
    assert {each for each in given - _THEIRS if f"`{each}`" not in PAGE} == set()


def test_every_alert_is_explained() -> None:
    objects = rendered.objects(rendered.CHART / "ci" / "external-values.yaml")
    (group,) = rendered.find(objects, "PrometheusRule", "wp")["spec"]["groups"]
    alerts = {each["alert"] for each in group["rules"]}

    assert alerts
    assert {each for each in alerts if f"`{each}`" not in PAGE} == set()
