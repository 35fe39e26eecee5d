"""The certificate of the public listeners, if the installation provides one for the endpoint.

The public listeners then have a key pair of their own, beside the one of the internal listeners.

* At first the space's own authority signs this pair, until every instance has restarted to read the
  files of the pair.
* From then on the pair is replaced without a restart: by the provided certificate, by its renewals,
  and by a certificate of the space's own authority again if the installation provides none any
  more.
* A provided certificate that fails its check is not presented. The condition ``Certificate`` says
  why; a space that was never active does not become ready.
"""

from datetime import datetime

from django.db import transaction

from controlplane.core.reasons import Reason
from workers.infra.base import CertificateProblem, GivenCertificate, PublicEndpoint, Session
from workers.instances import SecretName
from workers.messaging import given_certificates
from workers.messaging.given_certificates import NotUsable, Usable
from workers.reconcile import public
from workers.reconcile.findings import CertificateState, Instances
from workers.reconcile.outcome import Failed, Outcome, Wait
from workers.reconcile.space_keys import KeyStore
from workers.reconcile.space_rows import SpaceRows

# Names of secrets: the key pair that public listeners present, and the authorities that clients
# must trust for it. The second exists once all instances read the first. Empty text means that
# clients trust the authority already.
_PAIR, _TRUST = SecretName.PUBLIC, SecretName.PUBLIC_TRUST
_SHORT_SECONDS, _LONG_SECONDS = 0.3, 10.0


def ensure(rows: SpaceRows, session: Session, store: KeyStore) -> CertificateState | None:
    """Fetch the provided certificate and store it if it is usable; return what clients see.

    A provided certificate that is missing or not usable is no error: the result says so. None if
    the space has no public instance, or if the installation never provided a certificate for it. It
    also creates or updates the public endpoint. Idempotent.

    Raises:
        InfraError: the platform does not answer, or has no address for the endpoint yet.
    """
    if rows.public_instance is None:
        return None
    endpoint = public.endpoint(rows, session, rows.public_instance)
    try:
        given = session.ensure_certificate(endpoint)
    except CertificateProblem as problem:
        return _serve_on(store, endpoint, problem.reason, str(problem), lasting=not problem.retry)
    if given is not None:
        return _present(rows, store, endpoint, given)
    if store.keys.public_pair is None:
        return None
    # The installation provides none any more: return to the space's own authority.
    _ensure_own(store, endpoint)
    message = "Signed by the space's own authority, which clients must trust."
    return CertificateState(True, Reason.SPACE_AUTHORITY, message)


def settle(
    rows: SpaceRows, store: KeyStore, state: CertificateState | None, instances: Instances
) -> Outcome | None:
    """Store that all instances read the public pair, once none of them needs a restart for it.

    Return the outcome with which the pass over a new space must stop, or None to go on. The pass
    over a space that has been active goes on with the certificate that its listeners present.
    ``state`` is what ``ensure`` returned.
    """
    keys = store.keys
    if _PAIR in keys.rows and _TRUST not in keys.rows and not instances.restart_deferred:
        store.keep_public(_TRUST, keys.authority_pem)
    if state is None or rows.space.active_since is not None or not store.keys.is_own:
        return None
    if state.ok:
        return None
    if state.lasting:
        return Failed(state.reason, state.message)
    is_next = state.reason is Reason.CERTIFICATE_COMING  # the next pass presents it
    return Wait(_SHORT_SECONDS if is_next else _LONG_SECONDS, state.reason, state.message)


def _serve_on(
    store: KeyStore, endpoint: PublicEndpoint, reason: Reason, message: str, *, lasting: bool
) -> CertificateState:
    """Keep what the listeners present while the provided certificate is missing or not usable.

    The message of the result says what clients see meanwhile.
    """
    if store.keys.is_own:
        _ensure_own(store, endpoint)  # renews it too
        meanwhile = "Until then clients see a certificate of the space's own authority."
    else:
        ends = store.keys.pair(_PAIR).expires_at
        meanwhile = (
            f"Until then clients see the previous one, which is valid until {ends:%Y-%m-%d}."
        )
    return CertificateState(False, reason, f"{message} {meanwhile}", lasting)


def _present(
    rows: SpaceRows, store: KeyStore, endpoint: PublicEndpoint, given: GivenCertificate
) -> CertificateState:
    """Store the provided certificate, if it passes its check and every instance can present it.

    If not, return why. Until every instance reads the files of the public pair, the space's own
    authority signs the pair.
    """
    try:
        found = given_certificates.check(
            given.key_pem,
            given.certificate_pem,
            given.authority_pem,
            given.source,
            endpoint.host,
            rows.now,
        )
    except NotUsable as problem:
        message = f"{problem} {given.remedy}"
        return _serve_on(store, endpoint, problem.reason, message, lasting=True)
    known = store.keys.rows
    if _TRUST not in known:
        _ensure_own(store, endpoint)
        message = "Clients see it once every instance has restarted to read it."
        return CertificateState(False, Reason.CERTIFICATE_COMING, message)
    shown = known[_PAIR].public, known[_TRUST].public
    if shown != (found.pair.certificate_pem, found.authority_pem):
        # Together, so that the endpoint never shows an authority that did not sign the pair.
        with transaction.atomic():
            store.keep(_PAIR, found.pair)
            store.keep_public(_TRUST, found.authority_pem)
    return _describe(given, found, rows.now)


def _describe(given: GivenCertificate, found: Usable, now: datetime) -> CertificateState:
    certificate = found.pair.certificate
    ends = f"{certificate.not_valid_after_utc:%Y-%m-%d %H:%M} UTC"
    if now >= given_certificates.warn_at(certificate):
        message = f"The certificate in {given.source} expires on {ends}. {given.remedy}"
        return CertificateState(False, Reason.CERTIFICATE_EXPIRING, message)
    if found.authority_pem:
        trust = "Clients must trust the authority shown with the endpoint."
    else:
        trust = "Clients need to trust no other authority."
    message = f"The certificate in {given.source} is valid until {ends}. {trust}"
    return CertificateState(True, Reason.CERTIFICATE_GIVEN, message)


def _ensure_own(store: KeyStore, endpoint: PublicEndpoint) -> None:
    """Ensure a stored public pair that the space's own authority signed and that is not due."""
    hosts = list(dict.fromkeys([endpoint.host, *endpoint.extra_names]))
    with transaction.atomic():
        store.ensure_server(_PAIR, hosts)
        if not store.keys.is_own:
            store.keep_public(_TRUST, store.keys.authority_pem)
