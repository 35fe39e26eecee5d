"""The controller of custom resources in the chart: off by default, and with few rights."""

from typing import Any

import pytest

from tests.support.charts import rendered
from tests.support.charts.rendered import CHART, TRIAL
from workers.custom_resources.kinds import GROUP, KINDS

ON = "customResources.enabled=true,customResources.namespaces={shop,billing}"
NAME = "wp-custom-resources"


def objects(*options: str) -> list[Any]:
    return rendered.objects(TRIAL, "--set", ON, *options)


def test_it_is_off_by_default() -> None:
    for values in rendered.VARIANTS:
        assert "custom-resources" not in str(
            [found["metadata"]["name"] for found in rendered.objects(values)]
        )


def test_it_watches_the_listed_namespaces_and_has_rights_in_no_other() -> None:
    found = objects()
    (container,) = rendered.pod_specs(found)[f"Deployment/{NAME}"]["containers"]

    roles = [one for one in found if one["kind"] == "Role" and one["metadata"]["name"] == NAME]
    bindings = [one for one in found if one["kind"] == "RoleBinding" and NAME in str(one)]
    cluster_wide = [one for one in found if one["kind"] == "ClusterRoleBinding"]

    watched = [one.partition("=")[2] for one in container["command"] if "--namespace=" in one]
    assert watched == ["shop", "billing"]
    assert [one["metadata"]["namespace"] for one in roles] == watched
    assert [one["metadata"]["namespace"] for one in bindings] == watched
    assert NAME not in str(cluster_wide)


def test_it_gets_no_secret_of_the_installation() -> None:
    """Neither the database nor a key: a tenant's token is all that it has."""
    spec = rendered.pod_specs(objects())[f"Deployment/{NAME}"]

    assert "secret" not in str(spec.get("volumes")).lower()
    assert not any(container.get("env") for container in spec["containers"])
    assert not any(container.get("envFrom") for container in spec["containers"])


def test_its_pod_is_restricted_and_one() -> None:
    found = objects()
    spec = rendered.pod_specs(found)[f"Deployment/{NAME}"]
    (container,) = spec["containers"]

    assert spec["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert container["resources"]["limits"].keys() == {"memory", "ephemeral-storage"}
    deployment = rendered.find(found, "Deployment", NAME)
    assert deployment["spec"]["replicas"] == 1
    assert deployment["spec"]["strategy"] == {"type": "Recreate"}


def test_definitions_are_kept_and_can_be_left_out() -> None:
    def definitions(*options: str) -> list[Any]:
        return [one for one in objects(*options) if one["kind"] == "CustomResourceDefinition"]

    names = {one["metadata"]["name"] for one in definitions()}
    policies = {one["metadata"]["annotations"]["helm.sh/resource-policy"] for one in definitions()}

    assert names == {f"{kind.plural}.{GROUP}" for kind in KINDS}
    assert policies == {"keep"}
    assert definitions("--set", "customResources.definitions=false") == []


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("customResources.enabled=true", "namespaces to watch"),
        (f"{ON},customResources.resyncSeconds=1", "resyncSeconds"),
        ("customResources.namespaces={Shop}", "namespaces"),
    ],
)
def test_values_that_cannot_work_are_refused(values: str, message: str) -> None:
    ran = rendered.run("template", "wp", str(CHART), "-f", str(TRIAL), "--set", values)

    assert ran.returncode != 0
    assert message in ran.stderr
