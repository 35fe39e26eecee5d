"""Kinds that a plain API server does not have, known by name only: it then accepts their objects.

Their real schemas belong to OpenShift, the Gateway API and the Prometheus operator.
"""

import time
from typing import Any

from kubernetes import client
from kubernetes.client import ApiClient, ApiException

_KINDS = (
    ("route.openshift.io", "v1", "Route", "routes"),
    ("gateway.networking.k8s.io", "v1", "HTTPRoute", "httproutes"),
    ("gateway.networking.k8s.io", "v1alpha2", "TLSRoute", "tlsroutes"),
    ("monitoring.coreos.com", "v1", "ServiceMonitor", "servicemonitors"),
    ("monitoring.coreos.com", "v1", "PrometheusRule", "prometheusrules"),
)
_EXISTS, _PATIENCE_SECONDS = 409, 20


def make(admin: ApiClient) -> None:
    """Make the API server know them. Idempotent."""
    definitions: Any = client.ApiextensionsV1Api(admin)
    for kind in _KINDS:
        try:
            definitions.create_custom_resource_definition(_definition(*kind))
        except ApiException as error:
            if error.status != _EXISTS:
                raise
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not all(_is_served(admin, *kind) for kind in _KINDS):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def _definition(group: str, version: str, kind: str, plural: str) -> dict[str, Any]:
    served = {
        "name": version,
        "served": True,
        "storage": True,
        "schema": {
            "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        },
    }
    metadata: dict[str, Any] = {"name": f"{plural}.{group}"}
    if group.endswith(".k8s.io"):  # the API server asks who approved a kind in its own domain
        metadata["annotations"] = {"api-approved.kubernetes.io": "unapproved, for tests"}
    return {
        "metadata": metadata,
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "versions": [served],
        },
    }


def _is_served(admin: ApiClient, group: str, version: str, kind: str, plural: str) -> bool:
    custom: Any = client.CustomObjectsApi(admin)
    try:
        custom.list_cluster_custom_object(group, version, plural)
    except ApiException:
        return False
    return True
