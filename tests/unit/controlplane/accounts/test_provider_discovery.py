"""Endpoints and keys of providers: where they come from, how long they count, what is refused."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from pytest_django import Settings

from controlplane.accounts import provider_discovery
from controlplane.accounts.provider_discovery import Discovery
from controlplane.accounts.providers import Provider, ProviderUnavailable
from tests.support import identity_provider
from tests.support.identity_provider import FakeProvider

DOCUMENT = "/.well-known/openid-configuration"


@pytest.fixture
def fake() -> Iterator[FakeProvider]:
    with identity_provider.running() as provider:
        yield provider


@pytest.fixture
def ours(fake: FakeProvider) -> Provider:
    """The installation's provider, which may be on this machine."""
    return Provider(fake.issuer, "waypost", "secret", is_trusted=True)


class Clock:
    """A clock that tests put forward."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def found(clock: Clock) -> Discovery:
    return Discovery(clock)


def code_of(found: Discovery, provider: Provider, name: str = "token") -> str:
    with pytest.raises(ProviderUnavailable) as refused:
        found.endpoint(provider, name)
    return refused.value.error_code


def test_the_issuer_alone_is_enough(found: Discovery, ours: Provider, fake: FakeProvider) -> None:
    assert {name: found.endpoint(ours, name) for name in provider_discovery.FIELDS} == {
        "authorization": f"{fake.issuer}/authorize",
        "token": f"{fake.issuer}/token",
        "user": f"{fake.issuer}/userinfo",
        "keys": f"{fake.issuer}/keys",
        "logout": f"{fake.issuer}/logout",
    }
    assert fake.count(DOCUMENT) == 1


def test_an_explicit_endpoint_counts_and_nobody_is_asked(
    found: Discovery, ours: Provider, fake: FakeProvider
) -> None:
    fake.is_away = True
    explicit = replace(ours, explicit={"token": "https://elsewhere.example/token"})

    assert found.endpoint(explicit, "token") == "https://elsewhere.example/token"
    assert fake.requests == []


def test_the_document_counts_for_an_hour(
    found: Discovery, ours: Provider, fake: FakeProvider, clock: Clock
) -> None:
    first = found.endpoint(ours, "token")
    fake.document["token_endpoint"] = f"{fake.issuer}/token2"

    clock.seconds = 3599
    assert found.endpoint(ours, "token") == first
    clock.seconds = 3600
    assert found.endpoint(ours, "token") == f"{fake.issuer}/token2"


def test_a_provider_that_is_away_is_named_with_a_code(
    found: Discovery, ours: Provider, fake: FakeProvider
) -> None:
    fake.is_away = True

    assert code_of(found, ours) == "identity_provider.unavailable"

    fake.is_away = False
    assert found.endpoint(ours, "token") == f"{fake.issuer}/token"


def test_nobody_answers_at_all(found: Discovery) -> None:
    nobody = Provider("http://127.0.0.1:1", "waypost", "secret", is_trusted=True)

    assert code_of(found, nobody) == "identity_provider.unavailable"


@pytest.mark.parametrize("issuer", ["http://127.0.0.1:1/realm", None, 7, "https://evil.example"])
def test_a_document_of_another_issuer_is_refused_and_not_kept(
    found: Discovery, ours: Provider, fake: FakeProvider, issuer: object
) -> None:
    fake.document["issuer"] = issuer

    assert code_of(found, ours) == "identity_provider.invalid"

    del fake.document["issuer"]
    assert found.endpoint(ours, "token") == f"{fake.issuer}/token"


@pytest.mark.parametrize(
    "url",
    [
        "http://login.example/token",
        "ftp://login.example/token",
        "https:///token",
        f"https://{'user@'}login.example/token",
        "https://login.example/token#part",
        "https://login.example/to ken",
        "https://[::1",
        "",
        None,
        7,
    ],
)
def test_an_unsafe_endpoint_of_the_document_is_refused(
    found: Discovery, ours: Provider, fake: FakeProvider, url: object
) -> None:
    fake.document["token_endpoint"] = url

    assert code_of(found, ours) == "identity_provider.invalid"


def test_a_document_leads_to_no_other_private_host(
    found: Discovery, ours: Provider, fake: FakeProvider
) -> None:
    with identity_provider.running() as internal:
        fake.document["jwks_uri"] = f"https://127.0.0.1:{internal.port}/realm/keys"

        with pytest.raises(ProviderUnavailable):
            found.key(ours, "one", "RS256")

        explicit = replace(ours, explicit={"keys": f"{internal.issuer}/keys"})
        assert found.key(explicit, "one", "RS256") is not None
        assert internal.count("/keys") == 1


def test_a_provider_that_nobody_trusts_must_be_public(
    found: Discovery, ours: Provider, fake: FakeProvider, settings: Settings
) -> None:
    organizations = replace(ours, is_trusted=False)

    assert found.endpoint(ours, "token")  # what a trusted provider has fetched helps nobody else
    assert code_of(found, organizations) == "identity_provider.unavailable"
    assert fake.count(DOCUMENT) == 1

    settings.WEBHOOK_ALLOWED_RANGES = ["127.0.0.0/8"]
    assert found.endpoint(organizations, "token") == f"{fake.issuer}/token"


def test_the_logout_endpoint_is_at_the_issuer_or_explicit(
    found: Discovery, ours: Provider, fake: FakeProvider
) -> None:
    elsewhere = "https://elsewhere.example/logout"
    fake.document["end_session_endpoint"] = elsewhere

    assert found.logout_endpoint(ours) == ""
    assert found.logout_endpoint(replace(ours, explicit={"logout": elsewhere})) == elsewhere


def test_who_logs_out_does_not_need_the_provider(
    found: Discovery, ours: Provider, fake: FakeProvider
) -> None:
    fake.is_away = True

    assert found.logout_endpoint(ours) == ""


def test_a_new_key_is_found_and_a_withdrawn_one_ends(
    found: Discovery, ours: Provider, fake: FakeProvider, clock: Clock
) -> None:
    assert found.key(ours, "one", "RS256")
    fake.key_id = "two"

    clock.seconds = 9
    assert found.key(ours, "two", "RS256") is None  # asked for a moment ago
    clock.seconds = 11
    assert found.key(ours, "one", "RS256")
    assert found.key(ours, "two", "RS256")
    assert found.key(ours, "one", "RS256") is None
    assert fake.count("/keys") == 2


def test_a_key_for_another_algorithm_is_none(found: Discovery, ours: Provider) -> None:
    assert found.key(ours, "one", "ES256") is None


def test_a_public_endpoint_of_the_document_is_called_by_the_rules_of_tenants(
    found: Discovery, fake: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An issuer on another private port of the same machine is another host."""
    ours = Provider(fake.issuer, "waypost", "secret", is_trusted=True)

    assert ours.trusts(f"{fake.issuer}/token")
    assert not ours.trusts(f"http://127.0.0.1:{fake.port + 1}/token")
    assert not ours.trusts(fake.issuer.replace("http://", "https://"))


@pytest.mark.parametrize(
    "query", ["state=x", "a=b&nonce=x", "client_id=", "st%61te=x", "a=b;redirect_uri=x", "state"]
)
def test_an_authorization_endpoint_sets_no_parameter_of_ours(
    found: Discovery, ours: Provider, fake: FakeProvider, query: str
) -> None:
    fake.document["authorization_endpoint"] = f"{fake.issuer}/authorize?{query}"

    assert code_of(found, ours, "authorization") == "identity_provider.invalid"


def test_an_authorization_endpoint_may_have_parameters_of_its_own(
    found: Discovery, ours: Provider, fake: FakeProvider
) -> None:
    fake.document["authorization_endpoint"] = f"{fake.issuer}/authorize?p=policy"

    assert found.endpoint(ours, "authorization") == f"{fake.issuer}/authorize?p=policy"


def test_a_long_document_is_refused(found: Discovery, ours: Provider, fake: FakeProvider) -> None:
    fake.document["x"] = "x" * 66_000

    assert code_of(found, ours) == "identity_provider.unavailable"


def test_only_what_is_used_is_kept(found: Discovery, ours: Provider, fake: FakeProvider) -> None:
    fake.document.update(x=[[]] * 1000, token_endpoint=f"{fake.issuer}/token")
    found.key(ours, "one", "RS256")

    document, keys = (kept.members for kept in found._kept.values())
    assert set(document) == {"issuer", *provider_discovery.FIELDS.values()}
    assert set(keys) == {"keys"}


def test_few_are_kept_and_old_ones_are_dropped(
    found: Discovery, ours: Provider, fake: FakeProvider, clock: Clock
) -> None:
    def ask(number: int) -> None:
        explicit = {"keys": f"{fake.issuer}/keys?{number}"}
        found.key(replace(ours, explicit=explicit), "one", "RS256")

    for number in range(205):
        ask(number)
    assert len(found._kept) == 200
    asked = fake.count("/keys")
    ask(204)
    ask(0)
    assert fake.count("/keys") == asked + 1  # the newest one was kept, the oldest one was not

    clock.seconds = 3600
    ask(1)
    assert len(found._kept) == 1
