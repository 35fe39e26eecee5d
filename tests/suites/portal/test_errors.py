"""Pages that say what went wrong: never a traceback, always what to do next."""

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.views import defaults
from pytest_django import Settings

from controlplane.console import access
from controlplane.console.scope import TenantScope
from controlplane.core.errors import Conflict, Invalid, Unavailable, WaypostError
from tenants.permissions import Permission
from tests.suites.portal.conftest import As
from tests.support.portal.rows import World


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (Invalid("Use a smaller number.", code="number.big"), 422),
        (Conflict("Stop it first.", code="thing.running"), 409),
        (Unavailable("Try again in a minute."), 503),
    ],
)
def test_an_expected_refusal_is_a_page_with_its_code(error: WaypostError, status: int) -> None:
    @access.public_page
    def view(request: HttpRequest) -> HttpResponse:
        raise error

    answer = view(RequestFactory().get("/"))

    assert isinstance(answer, HttpResponse)
    page = answer.content.decode()
    assert answer.status_code == status
    assert error.message in page
    assert error.error_code in page


def test_words_of_a_refusal_are_escaped() -> None:
    @access.public_page
    def view(request: HttpRequest) -> HttpResponse:
        raise Invalid("<script>alert(1)</script>")

    answer = view(RequestFactory().get("/"))

    assert isinstance(answer, HttpResponse)
    assert "<script>alert" not in answer.content.decode()


def test_a_page_that_is_not_there_says_so() -> None:
    answer = Client().get("/no/such/page")

    assert answer.status_code == 404
    assert "Not found" in answer.content.decode()


def test_an_error_of_ours_is_one_neutral_page(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.DEBUG = False
    client = Client(raise_request_exception=False)
    monkeypatch.setattr("controlplane.console.access.render", None, raising=True)

    answer = client.get("/signup")

    page = answer.content.decode()
    assert answer.status_code == 500
    assert "Something went wrong on our side" in page
    assert "Traceback" not in page
    assert "NoneType" not in page


def test_the_page_of_a_denied_request_stands_alone() -> None:
    answer = defaults.permission_denied(RequestFactory().get("/"), Exception("x"))

    assert answer.status_code == 403
    assert "Not allowed" in answer.content.decode()


@pytest.mark.django_db
def test_a_view_knows_its_tenant_and_who_acts(world: World, as_: As, rf: RequestFactory) -> None:
    seen = []

    @access.tenant_page(Permission.VIEW, change=Permission.MANAGE_TEAM)
    def view(scope: TenantScope, **kwargs: str) -> HttpResponse:
        seen.append((scope.tenant, scope.actor.name, kwargs))
        return scope.render("parts/empty.html", {"title": "x"})

    request = rf.get("/")
    request.user = world.member
    view(request, tenant=world.tenant.slug, space="orders")
    request = rf.post("/")
    request.user = world.member
    refused = view(request, tenant=world.tenant.slug, space="orders")

    assert seen == [(world.tenant, "user:dev@acme.example", {"space": "orders"})]
    assert refused.status_code == 403
