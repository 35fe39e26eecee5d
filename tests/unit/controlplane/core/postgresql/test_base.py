"""What PostgreSQL says about a broken constraint holds rows; none of it may reach log or answer."""

from collections.abc import Callable

import pytest
from django.db import IntegrityError, connection, transaction
from rest_framework.test import APIRequestFactory

from controlplane.api import problem
from tenants.models import Membership, Tenant, User

pytestmark = pytest.mark.django_db
SECRET = "olga-who-must-not-be-logged@acme.example"


def break_a_unique_constraint() -> None:
    User.objects.create(username=SECRET, email=SECRET)
    User.objects.create(username=SECRET, email=SECRET)


def break_a_not_null_constraint() -> None:
    User.objects.create(username=SECRET, email=SECRET, first_name=None)  # type: ignore[misc]  # the column refuses it


BREAKING = [break_a_unique_constraint, break_a_not_null_constraint]


@pytest.mark.parametrize("break_it", BREAKING)
def test_an_integrity_error_holds_no_rows(break_it: Callable[[], None]) -> None:
    with pytest.raises(IntegrityError) as refused, transaction.atomic():
        break_it()

    told = f"{refused.value} {refused.value.__cause__}"
    assert "constraint" in told
    assert "DETAIL" not in told
    assert SECRET not in told


def test_a_constraint_that_waits_for_the_commit_holds_no_rows() -> None:
    tenant = Tenant.objects.create(slug="acme", name="Acme")
    Membership.objects.create(tenant=tenant, user_id=987654321, role="owner")

    with pytest.raises(IntegrityError) as refused:
        connection.check_constraints()

    told = f"{refused.value} {refused.value.__cause__}"
    assert "violates foreign key constraint" in told
    assert "DETAIL" not in told
    assert "987654321" not in told


@pytest.mark.parametrize("break_it", BREAKING)
def test_neither_answer_nor_log_holds_rows(
    break_it: Callable[[], None], capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(IntegrityError) as refused, transaction.atomic():
        break_it()

    answer = problem.handle(refused.value, {"request": APIRequestFactory().post("/")})

    told = str(answer.data) + "".join(capfd.readouterr())
    assert "IntegrityError" in told
    assert "DETAIL" not in told
    assert SECRET not in told
