"""The scheduled backup of the chart: off unless asked for, with no right that it does not use."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.charts import rendered
from workers.management.commands.back_up import Command

ON = "backup.enabled=true"
SNAPSHOTS = f"{ON},backup.lakehouse=snapshot,backup.brokers=true,backup.snapshotClass=fast"
OBJECT_STORE = rendered.CHART / "ci" / "objectstore-values.yaml"


def spec(*values: str) -> Mapping[str, Any]:
    objects = rendered.objects(rendered.TRIAL, "--set", ",".join(values))
    found: Mapping[str, Any] = rendered.pod_specs(objects)["CronJob/wp-backup"]
    return found


def names(*values: str) -> set[tuple[str, str]]:
    """Return kind and name of every object of backups."""
    options = ("--set", ",".join(values)) if values else ()
    return {
        (object_["kind"], object_["metadata"]["name"])
        for object_ in rendered.objects(rendered.TRIAL, *options)
        if "backup" in object_["metadata"]["name"]
    }


def test_nothing_is_there_unless_asked_for() -> None:
    assert names() == set()


def test_without_snapshots_it_has_no_account_and_no_token() -> None:
    assert names(ON) == {
        ("CronJob", "wp-backup"),
        ("PersistentVolumeClaim", "wp-backups"),
        ("NetworkPolicy", "wp-backup"),
    }
    assert spec(ON)["automountServiceAccountToken"] is False
    assert names(ON, "backup.existingClaim=mine") == {
        ("CronJob", "wp-backup"),
        ("NetworkPolicy", "wp-backup"),
    }


def arguments(*values: str) -> Mapping[str, Any]:
    """Return what the command makes of the container's arguments."""
    (container,) = spec(*values)["containers"]
    assert container["command"][:4] == ["python", "-m", "django", "back_up"]
    parsed = Command().create_parser("django", "back_up").parse_args(container["command"][4:])
    return vars(parsed)


def test_the_command_understands_its_arguments() -> None:
    plain, full = arguments(ON), arguments(SNAPSHOTS, "backup.keep=3")

    assert (plain["lakehouse_claim"], plain["brokers"], plain["keep"]) == ("", False, 14)
    assert (full["lakehouse_claim"], full["namespace"]) == ("wp-lakehouse", "waypost")
    assert (full["brokers"], full["snapshot_class"], full["keep"]) == (True, "fast", 3)
    assert full["installation"] == "waypost.wp"


def test_both_containers_share_the_exchange_and_the_backups() -> None:
    found = spec(ON)
    (dump,) = found["initContainers"]
    (backup,) = found["containers"]
    mounted = [
        {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
        for container in (dump, backup)
    ]

    assert dump["restartPolicy"] == "Always"  # a sidecar: it ends with the other container
    assert dump["command"][:2] == ["/bin/sh", "-c"]
    assert dump["command"][2] == (rendered.CHART / "files" / "dump.sh").read_text()
    given = {variable["name"]: variable.get("value") for variable in dump["env"]}
    for name, mount in (("EXCHANGE", "exchange"), ("BACKUPS", "backups")):
        assert {paths[mount] for paths in mounted} == {given[name]}
    assert str(arguments(ON)["folder"]) == given["BACKUPS"]
    assert str(arguments(ON)["exchange"]) == given["EXCHANGE"]


def test_the_database_admits_it_and_it_reaches_the_cluster_only_for_snapshots() -> None:
    objects = rendered.objects(rendered.TRIAL, "--set", ON)
    database = rendered.find(objects, "NetworkPolicy", "wp-database")
    (rule,) = database["spec"]["ingress"]
    (components,) = rule["from"][0]["podSelector"]["matchExpressions"]
    assert "backup" in components["values"]

    ports = {
        values: {
            port["port"]
            for rule in rendered.find(
                rendered.objects(rendered.TRIAL, "--set", values), "NetworkPolicy", "wp-backup"
            )["spec"]["egress"]
            for port in rule["ports"]
        }
        for values in (ON, SNAPSHOTS)
    }
    assert ports == {ON: {5432}, SNAPSHOTS: {5432, 443, 6443}}


@pytest.mark.parametrize("values", [SNAPSHOTS])
def test_a_snapshot_of_an_object_store_is_refused(values: str) -> None:
    options = ("template", "wp", str(rendered.CHART), "-f", str(OBJECT_STORE), "--set", values)

    assert "switch on versions in the bucket" in rendered.run(*options).stderr
