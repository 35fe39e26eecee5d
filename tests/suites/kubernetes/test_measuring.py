"""The bench of Kubernetes in small: that it runs, and what it shows besides times."""

from pathlib import Path

import pytest
from kubernetes.client import ApiClient

from tenants.models import AddressSpace
from tests.support.kubernetes import measuring
from tests.support.kubernetes.measuring import Bench, Counts

# Passes run in threads, which see only what is committed.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("fake_node")]


@pytest.fixture
def bench(admin: ApiClient, tmp_path: Path) -> Bench:
    return Bench(admin, tmp_path)


@pytest.mark.drill
def test_all_figures_are_measured(bench: Bench) -> None:
    found = {figure.what: figure.value for figure in measuring.figures(bench, Counts(3, 2))}

    assert list(found) == [
        "a brokered space made, its pod ready",
        "a standard space made, its pods ready",
        "2 spaces made",
        "full pass over 3 unchanged spaces",
        "writes of that pass",
        "calls of that pass made twice",
    ]
    assert found["writes of that pass"] == 0
    assert found["calls of that pass made twice"] == 0


@pytest.mark.parametrize("kind", ["brokered", "standard"])
def test_an_unchanged_space_costs_no_write_and_one_list_of_each_kind(
    bench: Bench, kind: str
) -> None:
    """Through the whole loop, its engines asked too."""
    spaces = measuring.make_spaces(2)
    space = AddressSpace.objects.get(id__in=spaces, type=kind)
    for _ in range(2):  # the second tells its pods of their files
        bench.settle([space.id])
    bench.forget()

    bench.settle([space.id])

    assert {verb for verb, _path in bench.calls} == {"GET"}
    assert bench.n_writes() == 0
    assert bench.n_repeated() == 0


def test_a_write_and_a_call_made_twice_are_counted(bench: Bench) -> None:
    (space,) = measuring.make_spaces(1)

    bench.settle([space])

    assert bench.n_writes() > 0
    assert bench.n_repeated() > 0
