"""The quota follows what a space has already, in whatever unit the API tells it."""

from dataclasses import replace

import pytest

from tests.support.infra.places import BUDGET, SPACE, broker, cluster
from workers.infra.kubernetes import instances, isolation, observed, resources, sizes
from workers.infra.kubernetes.isolation import Taken
from workers.infra.kubernetes.reported import Quota, StatefulSet


@pytest.mark.parametrize(
    ("quantity", "mebibytes"), [("0", 0), ("1", 1), ("1Gi", 1024), ("1G", 954), ("1.5Gi", 1536)]
)
def test_any_quantity_is_rounded_up(quantity: str, mebibytes: int) -> None:
    assert sizes.at_least_mebibytes(quantity) == mebibytes


def test_what_a_space_has_is_what_its_quota_counts() -> None:
    used = {"persistentvolumeclaims": "2", "requests.storage": "15000000k"}
    document = resources.document_of(instances.stateful_set(cluster(), broker()))
    running = StatefulSet.of(document)

    found = observed.taken([running], {"waypost": Quota.of({"status": {"used": used}})})

    assert (found.volumes, found.storage_mb) == (2, 14306)
    assert observed.taken([], {}).storage_mb == 0


@pytest.mark.parametrize(
    ("taken", "storage", "claims"),
    [
        (Taken(), "20Gi", "4"),
        (Taken(volumes=3, storage_mb=3 * 5120), "20Gi", "4"),
        (Taken(volumes=1, storage_mb=20 * 1024), "35Gi", "4"),
        (Taken(volumes=2, storage_mb=1024), "20Gi", "4"),
        (Taken(volumes=4, storage_mb=4 * 5120), "25Gi", "5"),
    ],
)
def test_volumes_that_are_larger_leave_room_for_those_to_come_and_one_more(
    taken: Taken, storage: str, claims: str
) -> None:
    spec = isolation.resource_quota(cluster(), SPACE, BUDGET, taken).spec

    assert spec is not None
    hard = spec.hard or {}
    assert (hard["requests.storage"], hard["persistentvolumeclaims"]) == (storage, claims)


def test_the_cpu_is_that_of_the_plan_and_of_pods_that_are_larger() -> None:
    budget = replace(BUDGET, brokers=2, routers=1, broker_cpu_millis=500)

    def cpu(used: int) -> str:
        spec = isolation.resource_quota(cluster(), SPACE, budget, Taken(cpu_millis=used)).spec
        assert spec is not None
        return str((spec.hard or {})["requests.cpu"])

    assert cpu(0) == cpu(1100) == "1600m"  # two brokers, a router, and a broker more
    assert cpu(3000) == "3500m"  # of a former plan: the first pod that is replaced must fit
