"""A session for one call, where a test reads or changes a single thing."""

from collections.abc import Callable
from typing import TypeVar

from workers.infra.base import Infra, InstanceStatus, Namespace, Session

T = TypeVar("T")


def once(infra: Infra, namespace: Namespace, call: Callable[[Session], T]) -> T:
    """Return what ``call`` returns in a session of its own."""
    with infra.open(namespace) as session:
        return call(session)


def listed(infra: Infra, namespace: Namespace) -> list[InstanceStatus]:
    """Return the instances that exist now."""
    return once(infra, namespace, lambda session: list(session.list_instances()))
