"""What clients are shown: a given certificate, its renewals, and what it is not allowed to be."""

from dataclasses import replace
from datetime import timedelta

import pytest

from controlplane.core.reasons import Reason
from tenants.models import AddressSpace, EngineRelease
from tests.support.reconcile import rows
from tests.support.reconcile.world import World
from tests.support.signing import Signed, Signer
from workers.infra.base import CertificateProblem, EngineImages, GivenCertificate
from workers.reconcile.outcome import Done, Failed, Wait
from workers.rollouts import release

pytestmark = pytest.mark.django_db

KINDS = ["brokered", "standard"]
MISSING = CertificateProblem(
    "There is none: put one.", reason=Reason.CERTIFICATE_MISSING, retry=False
)
PENDING = CertificateProblem(
    "Waiting. It says: soon.", reason=Reason.CERTIFICATE_PENDING, retry=True
)


@pytest.fixture(scope="module")
def signer() -> Signer:
    return Signer()


@pytest.fixture(params=KINDS)
def space(request: pytest.FixtureRequest, world: World) -> AddressSpace:
    made = rows.make_space(rows.make_tenant(), kind=request.param)
    rows.make_address(made, "work")
    return made


def given(signed: Signed, authority: str = "") -> GivenCertificate:
    return GivenCertificate(
        signed.key_pem,
        signed.chain_pem,
        authority,
        "the secret waypost/tls",
        "Put another one there.",
    )


def sign(world: World, signer: Signer, *hosts: str, days: float = 90) -> Signed:
    return signer.sign(*(hosts or ("127.0.0.1",)), now=world.now, lifetime=timedelta(days=days))


def shown(world: World, space: AddressSpace) -> str:
    """Return the chain in the public instance's files; that of its server without one."""
    name = "broker-0" if space.type == "brokered" else "router-0"
    (found,) = [instance for key, instance in world.infra.instances.items() if key[1] == name]
    return str(found.spec.files.get("public.pem", found.spec.files["server.pem"]))


def trusted(space: AddressSpace) -> str:
    return space.endpoints.get().certificate_pem


def own(space: AddressSpace) -> str:
    return space.secrets.get(name="authority").public


def condition(space: AddressSpace, kind: str = "Certificate") -> tuple[str, str, str]:
    found = next(condition for condition in space.conditions if condition["type"] == kind)
    return found["status"], found["reason"], found["message"]


def test_a_space_is_given_what_its_clients_know_and_another_pass_changes_nothing(
    world: World, space: AddressSpace, signer: Signer
) -> None:
    signed = sign(world, signer)
    world.infra.certificate = given(signed)

    outcome = world.settle(space)

    assert isinstance(outcome, Done)
    assert (shown(world, space), trusted(space)) == (signed.chain_pem, "")
    assert condition(space)[:2] == ("True", "CertificateGiven")
    assert "Clients need to trust no other authority." in condition(space)[2]
    before, updated = world.writes, list(space.secrets.values_list("updated_at"))
    world.pass_full(space)
    assert (world.writes, list(space.secrets.values_list("updated_at"))) == (before, updated)


def test_its_own_authority_is_passed_on(world: World, space: AddressSpace, signer: Signer) -> None:
    world.infra.certificate = given(sign(world, signer), signer.root_pem)

    world.settle(space)

    assert trusted(space) == signer.root_pem
    assert "Clients must trust the authority shown with the endpoint" in condition(space)[2]


def test_inside_everything_stays_with_the_authority_of_the_space(
    world: World, space: AddressSpace, signer: Signer
) -> None:
    world.infra.certificate = given(sign(world, signer))

    world.settle(space)

    for instance in world.infra.instances.values():
        files = instance.spec.files
        assert files.get("authority.pem", files.get("space-ca.pem")) == own(space)
        assert files["server.pem"] != files.get("public.pem")
    # brokers behind routers have no clients of their own
    brokers = [key for key in world.infra.instances if key[1].startswith("broker")]
    has_public = ["public.pem" in world.infra.instances[key].spec.files for key in brokers]
    assert has_public == [space.type == "brokered"]


def test_a_renewal_reaches_what_runs_without_a_restart(
    world: World, space: AddressSpace, signer: Signer
) -> None:
    world.infra.certificate = given(sign(world, signer))
    world.settle(space)
    world.infra.started.clear()
    renewed = sign(world, signer)
    world.infra.certificate = given(renewed)

    world.pass_full(space)

    assert shown(world, space) == renewed.chain_pem
    assert world.infra.started == []


def test_a_space_that_serves_restarts_first_and_then_changes_what_clients_trust(
    world: World, space: AddressSpace, signer: Signer
) -> None:
    world.settle(space)
    before, world.infra.started[:] = own(space), []
    signed = sign(world, signer)
    world.infra.certificate = given(signed, signer.root_pem)

    world.pass_full(space)  # reads the new files, which hold what its clients trust
    restarted = len(world.infra.started)
    assert condition(space)[:2] == ("False", "CertificateComing")
    assert (trusted(space), space.phase) == (before, "Active")
    assert shown(world, space) == space.secrets.get(name="public").public != signed.chain_pem
    world.pass_full(space)

    assert (shown(world, space), trusted(space)) == (signed.chain_pem, signer.root_pem)
    assert len(world.infra.started) == restarted == 1


def test_before_its_wave_of_the_rollout_nothing_changes_for_clients(
    world: World, space: AddressSpace, signer: Signer
) -> None:
    world.infra.images = EngineImages("broker:1", "router:1", "former")
    shape = release.configured(world.infra, world.ports.routing).template_hash
    former = EngineRelease.objects.create(
        number=1, broker_image="broker:1", router_image="router:1", template_hash=shape
    )
    AddressSpace.objects.filter(pk=space.pk).update(release=former)
    world.settle(space)
    world.infra.started.clear()
    world.infra.images = replace(world.infra.images, template_hash="presents given certificates")
    world.infra.certificate = given(sign(world, signer))

    for _ in range(3):
        world.pass_full(space)

    assert (world.infra.started, trusted(space)) == ([], own(space))
    assert condition(space)[:2] == ("False", "CertificateComing")
    latest = EngineRelease.objects.create(
        number=2,
        broker_image="broker:1",
        router_image="router:1",
        template_hash=release.configured(world.infra, world.ports.routing).template_hash,
    )
    AddressSpace.objects.filter(pk=space.pk).update(release=latest)
    for _ in range(2):
        world.pass_full(space)
    assert (len(world.infra.started), trusted(space)) == (1, "")


@pytest.mark.parametrize("problem", [MISSING, PENDING], ids=["lasting", "pending"])
def test_a_new_space_is_not_ready_before_its_certificate_is_there(
    world: World, space: AddressSpace, signer: Signer, problem: CertificateProblem
) -> None:
    world.infra.certificate = problem

    outcome = world.settle(space)

    assert isinstance(outcome, Wait if problem.retry else Failed)
    assert (space.active_since, space.endpoints.count()) == (None, 0)
    assert condition(space, "Ready")[:2] == ("False", problem.reason)
    assert str(problem) in condition(space, "Ready")[2]
    world.infra.certificate = given(sign(world, signer))
    assert isinstance(world.pass_full(space), Done)
    assert (space.phase, trusted(space)) == ("Active", "")


def test_what_may_not_be_presented_leaves_the_former_one(
    world: World, space: AddressSpace, signer: Signer
) -> None:
    good = sign(world, signer)
    world.infra.certificate = given(good)
    world.settle(space)
    kept = f"valid until {good.certificate.not_valid_after_utc:%Y-%m-%d}."
    other = sign(world, signer)

    for bad, reason in (
        (MISSING, "CertificateMissing"),
        (given(sign(world, signer, "another.example.org")), "CertificateHostMissing"),
        (given(sign(world, signer, days=0.001)), "CertificateExpired"),
        (given(Signed(other.key_pem, good.chain_pem)), "CertificateKeyOther"),
        (given(other, Signer("Other").root_pem), "CertificateAuthorityOther"),
        (given(Signed("", "")), "CertificateUnreadable"),
    ):
        world.infra.certificate = bad
        world.pass_full(space)
        status, found, message = condition(space)
        assert (status, found, message.endswith(kept)) == ("False", reason, True)
        assert (shown(world, space), trusted(space)) == (good.chain_pem, "")
        assert space.phase == "Active"
    assert "Put another one there." in message


def test_its_end_is_told_before_it_comes(world: World, space: AddressSpace, signer: Signer) -> None:
    signed = sign(world, signer, days=90)
    world.infra.certificate = given(signed)
    world.settle(space)
    assert condition(space)[0] == "True"

    world.now += timedelta(days=76)
    world.pass_full(space)

    ends = f"{signed.certificate.not_valid_after_utc:%Y-%m-%d %H:%M} UTC"
    assert condition(space) == (
        "False",
        "CertificateExpiring",
        f"The certificate in the secret waypost/tls expires on {ends}. Put another one there.",
    )
    assert condition(space, "Ready")[0] == "True"


def test_back_to_the_authority_of_the_space_restarts_nothing(
    world: World, space: AddressSpace, signer: Signer
) -> None:
    world.infra.certificate = given(sign(world, signer))
    world.settle(space)
    world.infra.started.clear()
    world.infra.certificate = None

    world.pass_full(space)

    assert (trusted(space), world.infra.started) == (own(space), [])
    assert shown(world, space) == space.secrets.get(name="public").public
    assert condition(space)[:2] == ("True", "SpaceAuthority")
    # and is renewed as all that it signs
    before = shown(world, space)
    world.now += timedelta(days=21)
    world.pass_full(space)
    assert shown(world, space) != before


def test_where_none_was_ever_given_nothing_is_said_or_stored(
    world: World, space: AddressSpace
) -> None:
    world.settle(space)

    assert [
        condition["type"] for condition in space.conditions if condition["type"] == "Certificate"
    ] == []
    assert not space.secrets.filter(name__startswith="public").exists()
    assert trusted(space) == own(space)
