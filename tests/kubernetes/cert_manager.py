"""cert-manager as far as spaces see it: its real ``Certificate`` kind, and a hand that signs.

The definition is the one that cert-manager publishes in its Go module; its controllers do not run.
"""

import base64
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from kubernetes import client
from kubernetes.client import ApiClient, ApiException

from controlplane.embedded import artifacts
from tests.kubernetes.server import build
from tests.signing import Signed, Signer
from workers.infra.kubernetes import resources
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.resources import CERTIFICATE, Manifest

_MODULE = "github.com/cert-manager/cert-manager@v1.19.2"
_DIGEST = "h1:jSprN1h5pgNDSl7HClAmIzXuTxic/5FXJ32kbQHqjlM="
_FILE = "deploy/crds/cert-manager.io_certificates.yaml"
_MISSING, _PATIENCE_SECONDS = 404, 30


def definition() -> Path:
    """Return the file that defines the kind, fetched into the cache once."""
    version = _MODULE.rsplit("@", 1)[1]
    place = artifacts.cache_dir() / f"cert-manager-{version}-certificates.yaml"
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="fetch-", dir=place.parent) as name:
            source = build.download(_MODULE, _DIGEST, Path(name))
            kept = shutil.copy(source / _FILE, Path(name) / place.name)
            Path(kept).rename(place)
    return place


@contextmanager
def installed(admin: ApiClient) -> Iterator[None]:
    """Have the API server know the kind meanwhile."""
    definitions: Any = client.ApiextensionsV1Api(admin)
    made = yaml.safe_load(definition().read_text())
    definitions.create_custom_resource_definition(made)
    try:
        _wait(admin, is_served=True)
        yield
    finally:
        definitions.delete_custom_resource_definition(made["metadata"]["name"])
        _wait(admin, is_served=False)


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
    wanted = api.find(CERTIFICATE, namespace, "messaging")
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
    body: Manifest = {
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


def _wait(admin: ApiClient, *, is_served: bool) -> None:
    path = resources.CERTIFICATE.path("default")
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while (Api(admin)._request("GET", path)[0] != _MISSING) is not is_served:
        assert time.monotonic() < deadline
        time.sleep(0.1)


if __name__ == "__main__":  # fetched before the tests, which need no network then
    sys.stdout.write(f"{definition()}\n")
