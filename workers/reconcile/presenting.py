"""What clients are shown where an installation has certificates for its spaces' endpoints.

The public listeners then have a key pair of their own beside the internal one. It is of the space's
authority until every instance reads it; from then on it is replaced in running instances, by the
certificate that is given, by its renewals, and by the space's own again if none is given any more.
What is given and may not be presented changes nothing but the condition ``Certificate``.
"""

from django.db import transaction

from workers.infra.base import CertificateProblem, GivenCertificate, PublicEndpoint
from workers.messaging import given_certificates
from workers.messaging.certificates import KeyPair
from workers.messaging.given_certificates import NotUsable, Usable
from workers.reconcile import public, sealing
from workers.reconcile.doors import Doors
from workers.reconcile.outcome import Failed, Outcome, Wait
from workers.reconcile.work import CertificateState, Work

# The pair that public listeners present, and whom clients trust for it. The second is there once
# all instances read the first; empty text stands for authorities that clients know already.
_PAIR, _TRUST = "public", "public/trust"
_AUTHORITY = "authority"
_COMING = "CertificateComing"
_SHORT_SECONDS, _LONG_SECONDS = 0.3, 10.0


def ensure(work: Work, doors: Doors) -> None:
    """Look for the certificate, put it in place if it may be, and say in ``work`` how it stands.

    Idempotent. Raises ``InfraError`` where the place does not answer for the endpoint; that nobody
    issues a certificate is told as one of the certificate.
    """
    if work.public_instance is None:
        return
    endpoint = public.endpoint(work, doors, work.public_instance)
    try:
        given = doors.infra.ensure_certificate(work.namespace, endpoint)
    except CertificateProblem as problem:
        _serve_on(work, endpoint, problem.reason, str(problem), lasting=not problem.retry)
        return
    if given is None:
        _return_to_own(work, endpoint)
    else:
        _present(work, endpoint, given)


def settle(work: Work) -> Outcome | None:
    """Note that all instances read the public pair; return what a new space still waits for.

    One whose clients connect already never waits: it serves on with what it presents.
    """
    if _PAIR in work.secrets and _TRUST not in work.secrets and not work.held_back:
        sealing.keep_public(work, _TRUST, work.secrets[_AUTHORITY].public)
    state = work.certificate
    if state is None or work.space.active_since is not None or not _is_own(work):
        return None
    if state.ok:
        return None
    if state.lasting:
        return Failed(state.reason, state.message)
    is_next = state.reason == _COMING
    return Wait(_SHORT_SECONDS if is_next else _LONG_SECONDS, f"{state.reason}: {state.message}")


def pair(work: Work) -> KeyPair | None:
    """Return what public listeners present; None where that is each one's server certificate."""
    return work.key_pair(_PAIR) if _PAIR in work.secrets else None


def trusted(work: Work) -> str:
    """Return whom clients must trust (PEM); empty where they do already."""
    return work.secrets[_TRUST if _TRUST in work.secrets else _AUTHORITY].public


def _check(work: Work, given: GivenCertificate, endpoint: PublicEndpoint) -> Usable:
    return given_certificates.check(
        given.key_pem,
        given.certificate_pem,
        given.authority_pem,
        given.source,
        endpoint.host,
        work.now,
    )


def _return_to_own(work: Work, endpoint: PublicEndpoint) -> None:
    """Present what the space's authority signs; nothing to do where nothing else ever was."""
    if _PAIR not in work.secrets:
        return
    _ensure_own(work, endpoint)
    message = "Signed by the space's own authority, which clients must trust."
    work.certificate = CertificateState(True, "SpaceAuthority", message)


def _serve_on(
    work: Work, endpoint: PublicEndpoint, reason: str, message: str, *, lasting: bool
) -> None:
    if _is_own(work):
        _ensure_own(work, endpoint)
        meanwhile = "Until then clients are shown one of the space's own authority."
    else:
        ends = work.key_pair(_PAIR).expires_at
        meanwhile = f"Until then the former one is shown, which is good until {ends:%Y-%m-%d}."
    work.certificate = CertificateState(False, reason, f"{message} {meanwhile}", lasting)


def _present(work: Work, endpoint: PublicEndpoint, given: GivenCertificate) -> None:
    try:
        found = _check(work, given, endpoint)
    except NotUsable as problem:
        _serve_on(work, endpoint, problem.reason, f"{problem} {given.remedy}", lasting=True)
        return
    if _TRUST not in work.secrets:
        _ensure_own(work, endpoint)
        message = "It is presented once every instance has restarted to read it."
        work.certificate = CertificateState(False, _COMING, message)
        return
    shown = work.secrets[_PAIR].public, work.secrets[_TRUST].public
    if shown != (found.pair.certificate_pem, found.authority_pem):
        with transaction.atomic():
            sealing.keep(work, _PAIR, found.pair)
            sealing.keep_public(work, _TRUST, found.authority_pem)
    work.certificate = _describe(work, given, found)


def _describe(work: Work, given: GivenCertificate, found: Usable) -> CertificateState:
    certificate = found.pair.certificate
    ends = f"{certificate.not_valid_after_utc:%Y-%m-%d %H:%M} UTC"
    if work.now >= given_certificates.warn_at(certificate):
        message = f"The certificate in {given.source} runs out on {ends}. {given.remedy}"
        return CertificateState(False, "CertificateExpiring", message)
    whom = "the authority shown with the endpoint" if found.authority_pem else "nobody else for it"
    message = f"The one in {given.source}, good until {ends}; clients must trust {whom}."
    return CertificateState(True, "CertificateGiven", message)


def _ensure_own(work: Work, endpoint: PublicEndpoint) -> None:
    hosts = list(dict.fromkeys([endpoint.host, *endpoint.extra_names]))
    with transaction.atomic():
        sealing.ensure_server(work, _PAIR, hosts)
        if not _is_own(work):
            sealing.keep_public(work, _TRUST, work.secrets[_AUTHORITY].public)


def _is_own(work: Work) -> bool:
    return trusted(work) == work.secrets[_AUTHORITY].public
