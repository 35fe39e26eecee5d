"""The certificate of the public listeners, if the installation provides one for the endpoint.

The public listeners then have a separate key pair beside the internal one.

* At first the space's own authority signs it, until every instance has restarted to read its files.
* From then on it is replaced without a restart: by the provided certificate, by its renewals, and
  by one of the space's own authority again if the installation provides none any more.
* A provided certificate that fails its check changes only the condition ``Certificate``.
"""

from django.db import transaction

from controlplane.core.reasons import Reason
from workers.infra.base import CertificateProblem, GivenCertificate, PublicEndpoint
from workers.instances import SecretName
from workers.messaging import given_certificates
from workers.messaging.certificates import KeyPair
from workers.messaging.given_certificates import NotUsable, Usable
from workers.reconcile import public, space_certificates
from workers.reconcile.context import CertificateState, ReconcileContext
from workers.reconcile.outcome import Failed, Outcome, Wait
from workers.reconcile.ports import Ports

# Names of secrets: the key pair that public listeners present, and the authorities that clients
# must trust for it. The second exists once all instances read the first. Empty text means that
# clients trust the authority already.
_PAIR, _TRUST = SecretName.PUBLIC, SecretName.PUBLIC_TRUST
_AUTHORITY = SecretName.AUTHORITY
_SHORT_SECONDS, _LONG_SECONDS = 0.3, 10.0


def ensure(context: ReconcileContext, ports: Ports) -> None:
    """Fetch the provided certificate, store it if it is usable, and set ``context.certificate``.

    Idempotent. A missing certificate is not an error, but a finding in ``context.certificate``.

    Raises:
        InfraError: the platform does not answer for the endpoint.
    """
    if context.public_instance is None:
        return
    endpoint = public.endpoint(context, ports, context.public_instance)
    try:
        given = ports.session.ensure_certificate(endpoint)
    except CertificateProblem as problem:
        _serve_on(context, endpoint, problem.reason, str(problem), lasting=not problem.retry)
        return
    if given is None:
        _return_to_own(context, endpoint)
    else:
        _present(context, endpoint, given)


def settle(context: ReconcileContext) -> Outcome | None:
    """Record that all instances read the public pair; return what a new space still waits for.

    A space that has been active never waits: it goes on with the certificate that it presents.
    """
    if _PAIR in context.secrets and _TRUST not in context.secrets and not context.restart_deferred:
        space_certificates.keep_public(context, _TRUST, context.secrets[_AUTHORITY].public)
    state = context.certificate
    if state is None or context.space.active_since is not None or not _is_own(context):
        return None
    if state.ok:
        return None
    if state.lasting:
        return Failed(state.reason, state.message)
    is_next = state.reason is Reason.CERTIFICATE_COMING  # the next pass presents it
    return Wait(_SHORT_SECONDS if is_next else _LONG_SECONDS, state.reason, state.message)


def pair(context: ReconcileContext) -> KeyPair | None:
    """Return the separate pair of the public listeners; None: they use the server certificates."""
    return context.key_pair(_PAIR) if _PAIR in context.secrets else None


def trusted(context: ReconcileContext) -> str:
    """Return the authorities that clients must trust (PEM); empty if they do already."""
    return context.secrets[_TRUST if _TRUST in context.secrets else _AUTHORITY].public


def _check(context: ReconcileContext, given: GivenCertificate, endpoint: PublicEndpoint) -> Usable:
    return given_certificates.check(
        given.key_pem,
        given.certificate_pem,
        given.authority_pem,
        given.source,
        endpoint.host,
        context.now,
    )


def _return_to_own(context: ReconcileContext, endpoint: PublicEndpoint) -> None:
    """Present a certificate of the space's own authority again, if another one was presented."""
    if _PAIR not in context.secrets:
        return
    _ensure_own(context, endpoint)
    message = "Signed by the space's own authority, which clients must trust."
    context.certificate = CertificateState(True, Reason.SPACE_AUTHORITY, message)


def _serve_on(
    context: ReconcileContext,
    endpoint: PublicEndpoint,
    reason: Reason,
    message: str,
    *,
    lasting: bool,
) -> None:
    if _is_own(context):
        _ensure_own(context, endpoint)  # renews it too
        meanwhile = "Until then clients see a certificate of the space's own authority."
    else:
        ends = context.key_pair(_PAIR).expires_at
        meanwhile = (
            f"Until then clients see the previous one, which is valid until {ends:%Y-%m-%d}."
        )
    context.certificate = CertificateState(False, reason, f"{message} {meanwhile}", lasting)


def _present(context: ReconcileContext, endpoint: PublicEndpoint, given: GivenCertificate) -> None:
    try:
        found = _check(context, given, endpoint)
    except NotUsable as problem:
        _serve_on(context, endpoint, problem.reason, f"{problem} {given.remedy}", lasting=True)
        return
    if _TRUST not in context.secrets:
        _ensure_own(context, endpoint)
        message = "Clients see it once every instance has restarted to read it."
        context.certificate = CertificateState(False, Reason.CERTIFICATE_COMING, message)
        return
    shown = context.secrets[_PAIR].public, context.secrets[_TRUST].public
    if shown != (found.pair.certificate_pem, found.authority_pem):
        # Together, so that the endpoint never shows an authority that did not sign the pair.
        with transaction.atomic():
            space_certificates.keep(context, _PAIR, found.pair)
            space_certificates.keep_public(context, _TRUST, found.authority_pem)
    context.certificate = _describe(context, given, found)


def _describe(
    context: ReconcileContext, given: GivenCertificate, found: Usable
) -> CertificateState:
    certificate = found.pair.certificate
    ends = f"{certificate.not_valid_after_utc:%Y-%m-%d %H:%M} UTC"
    if context.now >= given_certificates.warn_at(certificate):
        message = f"The certificate in {given.source} expires on {ends}. {given.remedy}"
        return CertificateState(False, Reason.CERTIFICATE_EXPIRING, message)
    if found.authority_pem:
        trust = "Clients must trust the authority shown with the endpoint."
    else:
        trust = "Clients need to trust no other authority."
    message = f"The certificate in {given.source} is valid until {ends}. {trust}"
    return CertificateState(True, Reason.CERTIFICATE_GIVEN, message)


def _ensure_own(context: ReconcileContext, endpoint: PublicEndpoint) -> None:
    hosts = list(dict.fromkeys([endpoint.host, *endpoint.extra_names]))
    with transaction.atomic():
        space_certificates.ensure_server(context, _PAIR, hosts)
        if not _is_own(context):
            space_certificates.keep_public(context, _TRUST, context.secrets[_AUTHORITY].public)


def _is_own(context: ReconcileContext) -> bool:
    return trusted(context) == context.secrets[_AUTHORITY].public
