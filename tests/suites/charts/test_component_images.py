"""Which image each component runs, and what the notes say of brokers without the plugin."""

from typing import Any

import yaml

from tests.support.charts import rendered
from tests.support.charts.rendered import CHART, NAMESPACE, RELEASE

CRON_JOB = ("--set", "pipeline.runs=cronjob,router.image.repository=r")
PORTAL, WORKER, SPARK = (f"waypost/{name}:0.1.0" for name in ("control-plane", "worker", "spark"))
PUBLIC = "broker.plugin=false,broker.image.repository=apache/artemis,broker.image.tag=2.56.0"


def images_of_engines(*options: str) -> Any:
    objects = rendered.objects(rendered.TRIAL, *options)
    described = rendered.find(objects, "ConfigMap", "wp-cluster")
    return yaml.safe_load(described["data"]["cluster.yaml"])


def notes(*options: str) -> str:
    ran = rendered.run(
        *("install", RELEASE, str(CHART), "-n", NAMESPACE, "-f", str(rendered.TRIAL)),
        *("--dry-run=client", *options),
    )
    assert ran.returncode == 0, ran.stderr
    return str(ran.stdout).partition("NOTES:")[2]


def test_each_component_runs_its_image() -> None:
    specs = rendered.pod_specs(rendered.objects(rendered.TRIAL, *CRON_JOB))

    found = {name: spec["containers"][0]["image"] for name, spec in specs.items()}

    ours = {name: image for name, image in found.items() if image.startswith("waypost/")}
    (migrate,) = [name for name in found if name.startswith("Job/")]
    assert ours == {
        "Deployment/wp-web": PORTAL,
        "Deployment/wp-beat": PORTAL,
        "StatefulSet/wp-auth": PORTAL,
        migrate: PORTAL,
        "Pod/wp-test-portal": PORTAL,
        "Deployment/wp-worker": WORKER,
        "Deployment/wp-metering": SPARK,
        "CronJob/wp-pipeline": SPARK,
    }


def test_what_waits_for_the_tables_needs_no_image_of_its_own() -> None:
    """Their nodes have the layers of the image already: the others are built upon it."""
    specs = rendered.pod_specs(rendered.objects(rendered.TRIAL))

    waiting = {
        container["image"]
        for spec in specs.values()
        for container in spec.get("initContainers", [])
    }

    assert waiting == {PORTAL}


def test_brokers_are_protected_by_default() -> None:
    found = images_of_engines()

    assert found["images"]["broker"] == "waypost/broker:0.1.0"
    assert found["broker_plugin"] is True
    assert "WITHOUT PROTECTION" not in notes()


def test_brokers_without_the_plugin_are_possible_and_the_notes_say_what_is_off() -> None:
    found = images_of_engines("--set", PUBLIC)
    said = notes("--set", PUBLIC)

    assert found["images"]["broker"] == "apache/artemis:2.56.0"
    assert found["broker_plugin"] is False
    assert "BROKERS WITHOUT PROTECTION" in said
    for off in (
        "connections",
        "selector",
        "queue of another address",
        "replies",
        "stored messages",
        "throttle",
        "limits of clients",
        "filters",
        "meters of bytes",
        "large messages",
        "probes",
    ):
        assert off in said
