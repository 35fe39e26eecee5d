"""Kinds of the Gateway API, OpenShift, the Prometheus operator and CSI, by real definitions.

On a cluster of OpenShift's own, Route is not defined this way, but by an API server beside; the
schema is the same one.
"""

import time
from typing import Any

import yaml
from kubernetes import client
from kubernetes.client import ApiClient, ApiException

from tests.support.kubernetes import definitions
from tests.support.kubernetes.definitions import (
    GATEWAY_API,
    OPENSHIFT,
    PROMETHEUS_OPERATOR,
    SNAPSHOTS,
)

_EXISTS, _PATIENCE_SECONDS = 409, 20


def make(admin: ApiClient) -> None:
    """Make the API server know them. Idempotent."""
    api: Any = client.ApiextensionsV1Api(admin)
    files = [
        file
        for published in (GATEWAY_API, OPENSHIFT, PROMETHEUS_OPERATOR, SNAPSHOTS)
        for file in definitions.fetch(published)
    ]
    kinds = [yaml.load(file.read_text(), Loader=yaml.CSafeLoader) for file in files]
    for kind in kinds:
        try:
            api.create_custom_resource_definition(kind)
        except ApiException as error:
            if error.status != _EXISTS:
                raise
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not all(_is_served(admin, kind["spec"]) for kind in kinds):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def _is_served(admin: ApiClient, spec: dict[str, Any]) -> bool:
    custom: Any = client.CustomObjectsApi(admin)
    served = [version["name"] for version in spec["versions"] if version["served"]]
    try:
        for version in served:
            custom.list_cluster_custom_object(spec["group"], version, spec["names"]["plural"])
    except ApiException:
        return False
    return True
