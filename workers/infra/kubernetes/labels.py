"""The labels on everything that Waypost makes, and the selectors over them. Pure.

Source: Kubernetes documentation, "Recommended Labels".
"""

from collections.abc import Mapping

from workers.infra.base import Kind, Namespace

TENANT = "waypost.io/tenant"
SPACE = "waypost.io/space"
COMPONENT = "app.kubernetes.io/component"
INSTANCE = "app.kubernetes.io/instance"
# Whose space it is, where a cluster has several installations of Waypost.
INSTALLATION = "waypost.io/installation"
# The part of a space that is neither broker nor router: its namespace, policies and endpoints.
SPACE_COMPONENT = "space"

OURS: Mapping[str, str] = {
    "app.kubernetes.io/part-of": "waypost",
    "app.kubernetes.io/managed-by": "waypost",
}

# Copies of the credentials of a registry.
PULL_SECRET: Mapping[str, str] = {**OURS, COMPONENT: "pull-secret"}


def of_space(namespace: Namespace) -> dict[str, str]:
    """Return the labels of what belongs to the space as a whole."""
    return {
        **OURS,
        TENANT: namespace.tenant_id,
        SPACE: namespace.space_id,
        COMPONENT: SPACE_COMPONENT,
    }


def of_instance(namespace: Namespace, kind: Kind, name: str) -> dict[str, str]:
    """Return the labels of what belongs to one broker or router."""
    return {**of_space(namespace), COMPONENT: kind.value, INSTANCE: name}


def select_instance(name: str) -> dict[str, str]:
    """Return the selector, within a namespace, of one instance's objects."""
    return {**OURS, INSTANCE: name}


def select_component(kind: Kind) -> dict[str, str]:
    """Return the selector, within a namespace, of all brokers or all routers."""
    return {**OURS, COMPONENT: kind.value}
