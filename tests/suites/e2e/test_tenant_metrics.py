"""Prometheus scrapes a tenant's metrics of an embedded installation, from outside."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from controlplane.demo.customers import Customer
from controlplane.embedded.installation import Installation
from tests.support.waiting import eventually

pytestmark = [pytest.mark.stack, pytest.mark.slow]


@pytest.fixture
def owner(running: Installation, tmp_path: Path) -> Iterator[Customer]:
    """A customer with a space that has a queue."""
    made = Customer(running.url, "Scraped Works", tmp_path)
    made.sign_up("team")
    made.create_space("orders", "brokered", "brokered-small")
    made.create_address("orders", "jobs", "queue", "brokered-small-queue")
    yield made
    made.delete_space("orders")
    made.api.close()


def token_of(customer: Customer) -> str:
    body = {"name": "prometheus", "role": "viewer"}
    token: str = customer.api.post(customer.path("/tokens"), body)["token"]
    return token


def scrape(customer: Customer, token: str | None) -> httpx.Response:
    url = f"{customer.api.url}/api/v1{customer.path('/metrics')}"
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.get(url, headers=headers, timeout=10)


def samples(text: str) -> dict[str, float]:
    """Return one value of each name: all addresses of the tenant's space are empty."""
    families = list(text_string_to_metric_families(text))
    return {sample.name: sample.value for family in families for sample in family.samples}


def test_a_token_scrapes_its_tenant_and_an_outsiders_does_not(
    running: Installation, owner: Customer, tmp_path: Path
) -> None:
    outsider = Customer(running.url, "Curious People", tmp_path)
    outsider.sign_up("team")
    token, foreign = token_of(owner), token_of(outsider)

    eventually(
        lambda: "waypost_address_depth" in samples(scrape(owner, token).text),
        "the sampler has read the queue",
    )
    answer = scrape(owner, token)
    refused = [scrape(owner, other).status_code for other in (foreign, None, "wp_made_up")]
    own = scrape(outsider, foreign)
    outsider.api.close()

    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/plain")
    found = samples(answer.text)
    assert found["waypost_address_depth"] == 0
    assert found["waypost_space_addresses"] == 2  # the queue, and the space's dead-letters
    assert found["waypost_space_sample_age_seconds"] < 60
    assert refused == [404, 401, 401]
    assert "orders" not in own.text
