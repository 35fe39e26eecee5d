"""The alerts and the dashboard of the chart: they ask for gauges that exist, with these limits."""

import json
import re
from pathlib import Path

import pytest

from tests.support.charts import rendered
from tests.support.charts.rendered import CHART
from tests.support.source_tree import ROOT


def test_alerts_and_dashboard_ask_for_gauges_that_exist() -> None:
    modules = sorted(ROOT.glob("controlplane/*gauges.py"))
    there = set(re.findall(r'"(waypost_\w+)"', "".join(map(Path.read_text, modules))))
    objects = rendered.objects(CHART / "ci" / "external-values.yaml")
    asked = set()
    for of in ("PrometheusRule wp", "PrometheusRule wp-messaging", "ConfigMap wp-dashboard"):
        asked |= set(re.findall(r"\bwaypost_\w+", json.dumps(rendered.find(objects, *of.split()))))

    assert there
    assert asked == there
    json.loads(rendered.find(objects, "ConfigMap", "wp-dashboard")["data"]["waypost.json"])


@pytest.mark.parametrize(
    ("options", "seconds"),
    [
        ("monitoring.usageLateSeconds=4000", 4000),
        ("pipeline.seconds=300", 3600),
        ("pipeline.seconds=1200", 7200),
    ],
)
def test_usage_is_late_after_the_time_that_values_say(options: str, seconds: int) -> None:
    late = expression("WaypostUsageLate", "--set", options)

    assert late.endswith(f" > {seconds}")


def test_usage_is_late_only_where_a_space_could_be_sampled_meanwhile() -> None:
    """The last space deleted, or the only broker down: nothing lands, and nothing is wrong."""
    late = expression("WaypostUsageLate")

    sampled, _, _ = late.partition(" and on() ")
    assert sampled == 'min(min_over_time(waypost_spaces_sampled{namespace="waypost"}[3600s])) > 0'


def test_the_alert_of_late_usage_says_what_quotas_count_meanwhile() -> None:
    """They add what is sampled and not in the tables yet, for about a day."""
    objects = rendered.objects(CHART / "ci" / "external-values.yaml")
    groups = rendered.find(objects, "PrometheusRule", "wp")["spec"]["groups"]
    (late,) = [r for g in groups for r in g["rules"] if r.get("alert") == "WaypostUsageLate"]

    assert "quotas" not in late["annotations"]["summary"]
    assert "exactly until usage is about a day old" in late["annotations"]["description"]


def test_changes_are_told_of_by_their_age_and_not_by_their_number() -> None:
    """On a busy fleet some change is always under way."""
    waits = expression("WaypostSpacesNotReconciled")

    assert waits == 'max(waypost_space_oldest_unreconciled_seconds{namespace="waypost"}) > 900'


def test_old_probes_and_full_addresses_alert() -> None:
    """A full pass probes every five minutes, so half an hour without one is no chance."""
    old = expression("WaypostProbeOld", rules="wp-messaging")
    full = expression("WaypostAddressFull", rules="wp-messaging")

    assert old == 'max(waypost_oldest_probe_age_seconds{namespace="waypost"}) > 1800'
    assert full == 'max by (plan) (waypost_addresses_full{namespace="waypost"}) > 0'


def expression(alert: str, *options: str, rules: str = "wp") -> str:
    """Return what the alert asks, its namespace being ``waypost``."""
    objects = rendered.objects(CHART / "ci" / "external-values.yaml", *options)
    (group,) = rendered.find(objects, "PrometheusRule", rules)["spec"]["groups"]
    (found,) = [rule["expr"] for rule in group["rules"] if rule["alert"] == alert]
    return str(found)


def test_a_release_without_monitoring_has_none_of_its_kinds() -> None:
    assert "monitoring.coreos.com" not in rendered.template()
