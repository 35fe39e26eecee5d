"""cert-manager as far as spaces see it: its real ``Certificate`` kind, and a hand that signs.

The definition is the one that cert-manager publishes in its Go module; its controllers do not run.
"""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import yaml
from kubernetes import client
from kubernetes.client import ApiClient, ApiException

from tests.support.kubernetes import definitions, look
from tests.support.kubernetes.look import Document
from tests.support.signing import Signed, Signer
from tests.support.waiting import eventually
from workers.infra.kubernetes import public_certificates
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.public_certificates import CERTIFICATE

_SERVED, _MISSING = 200, 404


@contextmanager
def installed(admin: ApiClient) -> Iterator[None]:
    """Have the API server know the kind meanwhile."""
    api: Any = client.ApiextensionsV1Api(admin)
    (file,) = definitions.fetch(definitions.CERT_MANAGER)
    made = yaml.load(file.read_text(), Loader=yaml.CSafeLoader)
    api.create_custom_resource_definition(made)
    try:
        _wait(admin, _SERVED)  # not while it begins: it is too busy then for whatever is asked
        yield
    finally:
        api.delete_custom_resource_definition(made["metadata"]["name"])
        _wait(admin, _MISSING)


def say(api: Api, namespace: str, message: str, *, is_ready: bool = False) -> None:
    """Say of the space's certificate what its controller would."""
    status = "True" if is_ready else "False"
    told = {"type": "Ready", "status": status, "reason": "Told", "message": message}
    path = f"{CERTIFICATE.path(namespace, 'messaging')}/status"
    body = {"status": {"conditions": [told]}}
    answered, answer = api._request(
        "PATCH", path, body=body, content_type="application/merge-patch+json"
    )
    assert answered == 200, answer


def issue(admin: ApiClient, namespace: str, signer: Signer, *, authority: bool = True) -> Signed:
    """Do what the certificate of the space asks for: sign, and put the secret where it says."""
    api = Api(admin)
    wanted = look.find(api, CERTIFICATE, namespace, "messaging")
    assert wanted is not None
    spec = wanted["spec"]
    signed = signer.sign(*spec.get("dnsNames", []), *spec.get("ipAddresses", []))
    held = {"tls.crt": signed.chain_pem, "tls.key": signed.key_pem}
    if authority:
        held["ca.crt"] = signer.root_pem
    labels = spec["secretTemplate"]["labels"]
    put_secret(admin, namespace, spec["secretName"], held, labels)
    say(api, namespace, "Certificate is up to date and has not expired", is_ready=True)
    return signed


def put_secret(
    admin: ApiClient, namespace: str, name: str, held: dict[str, str], labels: dict[str, str]
) -> None:
    """Make the secret hold exactly these texts."""
    core: Any = client.CoreV1Api(admin)
    body: Document = {
        "metadata": {"name": name, "labels": labels},
        "type": "kubernetes.io/tls",
        "data": {key: base64.b64encode(text.encode()).decode() for key, text in held.items()},
    }
    try:
        core.replace_namespaced_secret(name, namespace, body)
    except ApiException as error:
        if error.status != _MISSING:
            raise
        core.create_namespaced_secret(namespace, body)


def _wait(admin: ApiClient, status: int) -> None:
    path = public_certificates.CERTIFICATE.path("default")
    eventually(lambda: Api(admin)._request("GET", path)[0] == status)
