"""The labels of the objects of spaces, and selectors for them. Pure.

Source: Kubernetes documentation, "Recommended Labels".
"""

from collections.abc import Mapping

from controlplane.core.instance_names import Kind
from workers.infra.base import Namespace

TENANT = "waypost.io/tenant"
SPACE = "waypost.io/space"
COMPONENT = "app.kubernetes.io/component"
INSTANCE = "app.kubernetes.io/instance"
# Distinguishes several installations of Waypost in one cluster. ``snapshot.marked`` sets it.
INSTALLATION = "waypost.io/installation"
# The component of objects that belong to no single instance: namespace, policies, endpoint.
SPACE_COMPONENT = "space"

# On every object that Waypost creates in a cluster.
OURS: Mapping[str, str] = {
    "app.kubernetes.io/part-of": "waypost",
    "app.kubernetes.io/managed-by": "waypost",
}

# The labels of copies of a registry's credentials, beside those of the space.
PULL_SECRET: Mapping[str, str] = {**OURS, COMPONENT: "pull-secret"}


def of_space(namespace: Namespace) -> dict[str, str]:
    """Return the labels of objects that belong to the space as a whole."""
    return {
        **OURS,
        TENANT: namespace.tenant_id,
        SPACE: namespace.space_id,
        COMPONENT: SPACE_COMPONENT,
    }


def of_instance(namespace: Namespace, kind: Kind, name: str) -> dict[str, str]:
    """Return the labels of objects that belong to one broker or router."""
    return {**of_space(namespace), COMPONENT: kind.value, INSTANCE: name}


def as_query(selector: Mapping[str, str]) -> str:
    """Return a selector of labels or fields as the value of a query parameter: ``a=1,b=2``."""
    return ",".join(f"{key}={value}" for key, value in selector.items())


def select_instance(name: str) -> dict[str, str]:
    """Return the selector, within a namespace, of one instance's objects."""
    return {**OURS, INSTANCE: name}


def select_component(kind: Kind) -> dict[str, str]:
    """Return the selector, within a namespace, of all brokers or all routers."""
    return {**OURS, COMPONENT: kind.value}
