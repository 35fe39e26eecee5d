"""docs/operate/rights.md and the chart's roles say the same."""

import re

import pytest

from tests.support.charts import rendered
from tests.support.source_tree import ROOT

PAGE = ROOT / "docs" / "operate" / "rights.md"
SPARK = ("--set", "pipeline.spark=kubernetes,pipeline.runs=cronjob")
_CERTIFICATE = "spaces.endpoint.certificate"
# The page speaks of secrets by the values that name them; a name has small letters only.
SUPPLIED = (
    "--set",
    f"{_CERTIFICATE}.source=secret",
    "--set",
    f"{_CERTIFICATE}.secret={_CERTIFICATE}.secret",
    "--set",
    "spaces.endpoint.domain=example.org",
)
PULLED = ("--set", "imagePullSecrets[0]=imagepullsecrets")
RESOURCES = ("--set", "customResources.enabled=true,customResources.namespaces={shop}")
BACKED_UP = ("--set", "backup.enabled=true,backup.lakehouse=snapshot,backup.brokers=true")
# API group, resources, verbs, names
Rule = tuple[str, frozenset[str], frozenset[str], str]


def documented(heading: str) -> dict[Rule, str]:
    """Return the reason of each rule in the section's first table."""
    section = re.split(r"^## ", PAGE.read_text(), flags=re.M)
    (text,) = [line for line in section if line.splitlines()[0].endswith(heading)]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {_rule(*row[:3]): row[3] for row in rows[2:]}


def _rule(group: str, resources: str, verbs: str) -> Rule:
    name = re.search(r"\(only `(?:<release>)?(.*)`\)", resources)
    plain = re.sub(r" \(only .*\)", "", resources)
    words = frozenset(plain.split(", ")), frozenset(verbs.split(", "))
    return ("" if group == "core" else group, *words, name[1].lower() if name else "")


def in_chart(kind: str, name: str, *options: str) -> set[Rule]:
    role = rendered.find(
        rendered.objects(rendered.TRIAL, *options), kind, f"{rendered.RELEASE}{name}"
    )
    found = set()
    for rule in role["rules"]:
        (group,) = rule["apiGroups"]
        (only,) = rule.get("resourceNames", [rendered.RELEASE])
        found.add(
            (
                group,
                frozenset(rule["resources"]),
                frozenset(rule["verbs"]),
                only.removeprefix(rendered.RELEASE),
            )
        )
    return found


@pytest.mark.parametrize(
    ("heading", "kind", "name", "options"),
    [
        ("`<release>-worker`", "ClusterRole", "-worker", ()),
        ("`<release>-space`", "ClusterRole", "-space", ()),
        ("`<release>-metering`", "ClusterRole", "-metering", ()),
        ("`<release>-metering-namespaces`", "ClusterRole", "-metering-namespaces", ()),
        ("Spark on Kubernetes", "Role", "-spark", SPARK),
        ("`<release>-certificate`", "Role", "-certificate", SUPPLIED),
        ("`<release>-pull-secrets`", "Role", "-pull-secrets", PULLED),
        ("`<release>-custom-resources`", "Role", "-custom-resources", RESOURCES),
        ("for backups: `<release>-backup`", "Role", "-backup", BACKED_UP),
        ("for backups: cluster role `<release>-backup`", "ClusterRole", "-backup", BACKED_UP),
    ],
)
def test_every_right_is_documented_with_a_reason(
    heading: str, kind: str, name: str, options: tuple[str, ...]
) -> None:
    page = documented(heading)

    assert set(page) == in_chart(kind, name, *options)
    assert all(len(reason) > 20 for reason in page.values())


def test_no_rule_is_a_wildcard() -> None:
    roles = [
        object_
        for object_ in rendered.objects(
            rendered.TRIAL, *SPARK, *SUPPLIED, *PULLED, *BACKED_UP, *RESOURCES
        )
        if object_["kind"] in ("ClusterRole", "Role")
    ]

    assert len(roles) == 10
    for role in roles:
        for rule in role["rules"]:
            assert "*" not in [*rule["apiGroups"], *rule["resources"], *rule["verbs"]]


def test_only_the_workers_and_the_controller_mount_a_token() -> None:
    specs = rendered.pod_specs(rendered.objects(rendered.TRIAL, *RESOURCES))

    mounting = {
        name for name, spec in specs.items() if spec.get("automountServiceAccountToken", True)
    }

    controller = "Deployment/wp-custom-resources"
    assert mounting == {"Deployment/wp-worker", "Deployment/wp-metering", controller}
