"""The certificate of a space as a file of the portal."""

import pytest

from tests.suites.portal.conftest import As
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
HOME = "/t/acme-shipping/"


def test_the_certificate_is_a_file_of_the_space(world: World, as_: As) -> None:
    rows.active_space(world.tenant)

    answer = as_(world.owner).get(HOME + "spaces/orders/certificate")

    assert answer.content.decode() == rows.CERTIFICATE
    assert answer["Content-Disposition"] == 'attachment; filename="orders-ca.pem"'


def test_where_clients_know_who_signed_there_is_no_file(world: World, as_: As) -> None:
    space = rows.active_space(world.tenant)
    rows.address(space, "work")
    rows.messaging_user(space, "one")
    space.endpoints.update(certificate_pem="")
    client = as_(world.owner)

    page = client.get(HOME + "spaces/orders/connect").content.decode()
    file = client.get(HOME + "spaces/orders/certificate")

    assert "Nothing to install: your systems already trust the certificate" in page
    assert "orders-ca" not in page
    assert "create_receiver(&quot;work&quot;)" in page
    assert (file.status_code, "need no certificate file" in file.content.decode()) == (404, True)


def test_before_the_space_is_reachable_there_is_no_certificate(world: World, as_: As) -> None:
    rows.space(world.tenant)

    answer = as_(world.owner).get(HOME + "spaces/orders/certificate")

    assert answer.status_code == 404
    assert "wait until it is Active" in answer.content.decode()
