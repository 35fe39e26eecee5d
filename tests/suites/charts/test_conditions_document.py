"""Every alert of the chart is in the manual. Reasons are checked by tests/repo/test_reasons.py."""

from tests.support.charts import rendered
from tests.support.source_tree import ROOT

PAGE = (ROOT / "docs/operate/conditions.md").read_text()


def test_every_alert_is_explained() -> None:
    objects = rendered.objects(rendered.CHART / "ci" / "external-values.yaml")
    alerts = {
        rule["alert"]
        for name in ("wp", "wp-messaging")
        for group in rendered.find(objects, "PrometheusRule", name)["spec"]["groups"]
        for rule in group["rules"]
    }

    assert alerts
    assert {alert for alert in alerts if f"`{alert}`" not in PAGE} == set()
