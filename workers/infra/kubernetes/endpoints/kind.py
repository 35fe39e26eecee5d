"""The base class of endpoint kinds: the objects of an endpoint, and its address. Pure.

An endpoint is a service in front of the space's public instances, those that clients connect to.
Some kinds add one object that leads clients from outside the cluster to the service, such as an
Ingress. This object is called ``lead`` here.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Protocol

from kubernetes import client as k8s

from controlplane.core.instance_names import Kind, Listener
from workers.infra.base import Namespace
from workers.infra.kubernetes import labels, reported, sizes
from workers.infra.kubernetes.objects import space_metadata
from workers.infra.kubernetes.reported import Condition, Reported
from workers.infra.kubernetes.resources import Applied, Resource

NAME = "messaging"  # the name of the service, and of the object that leads to it
PASSED_THROUGH_PORT = 443  # of ingresses, gateways and OpenShift's router
# Conditions of a route: no traffic passes while one of them is False. Sources: Gateway API
# reference, RouteStatus ("Accepted", "ResolvedRefs"); OpenShift API, RouteIngress ("Admitted").
_LEADS = frozenset({"Accepted", "ResolvedRefs", "Admitted"})

Address = tuple[str, int]  # host and port


class Choice(Protocol):
    """The installation's endpoint settings; ``cluster.EndpointChoice`` documents the fields."""

    @property
    def domain(self) -> str: ...
    @property
    def class_name(self) -> str: ...
    @property
    def gateway(self) -> str: ...
    @property
    def annotations(self) -> Mapping[str, str]: ...


class EndpointKind(ABC):
    """Builds the objects of one kind of endpoint, and reads its address from the live objects.

    * ``needs``: fields of ``Choice`` that must not be empty.
    * ``service_type``: the type of the service in front of the space's public instances.
    * ``client_port``: the port at which clients reach every space; None if the cluster assigns one
      to each space.
    * ``outside``: the resource of ``lead``; None if this kind needs no such object.
    * ``pending``: the message for operators until the cluster has assigned an address.
    """

    needs: Sequence[str] = ()
    service_type = "ClusterIP"
    client_port: int | None = sizes.PORTS[Listener.AMQPS]
    outside: Resource[Reported] | None = None
    pending = (
        "The cluster has not assigned an address to the space's endpoint yet. If this lasts, read "
        "the events of the service `messaging`."
    )

    def service_annotations(self, choice: Choice, namespace: Namespace) -> Mapping[str, str]:
        """Return the annotations for the service in front of the space's public instances."""
        return choice.annotations

    def lead(self, choice: Choice, namespace: Namespace) -> Applied | None:
        """Return the object that leads clients from outside to the service; None if not needed."""
        return None

    @abstractmethod
    def address(
        self, choice: Choice, namespace: Namespace, service: reported.Service
    ) -> Address | None:
        """Return the host and port where clients connect; None until the cluster has assigned them.

        ``service`` is the live service of the endpoint.
        """

    def trouble(self, service: reported.Service, lead: Reported | None) -> str:
        """Return why clients outside the cluster cannot reach the space; empty if nothing is known.

        ``service`` and ``lead`` are the live objects. Controllers of ingresses report nothing.
        """
        return ""

    def service(
        self, choice: Choice, namespace: Namespace, kind: Kind, port: int | None = None
    ) -> k8s.V1Service:
        """Return the service in front of the space's public instances, all of them of ``kind``.

        ``port`` is the port of the nodes to ask for; None leaves it to the cluster.
        """
        inner = sizes.PORTS[Listener.AMQPS]
        return k8s.V1Service(
            metadata=space_metadata(namespace, NAME, self.service_annotations(choice, namespace)),
            spec=k8s.V1ServiceSpec(
                type=self.service_type,
                selector=labels.select_component(kind),
                ports=[
                    k8s.V1ServicePort(
                        name=Listener.AMQPS.value,
                        port=inner,
                        target_port=inner,
                        protocol="TCP",
                        node_port=port,
                    )
                ],
            ),
        )

    def build(
        self, choice: Choice, namespace: Namespace, kind: Kind, port: int | None = None
    ) -> Sequence[Applied]:
        """Return the objects of the endpoint: the service, then ``lead`` if this kind has one.

        The service leads to the pods of ``kind``. ``port`` is as for ``service``.
        """
        lead = self.lead(choice, namespace)
        service = self.service(choice, namespace, kind, port)
        return [service] if lead is None else [service, lead]


class PassedThrough(EndpointKind):
    """A kind in which all spaces share the address of one proxy, and each has a host name.

    The proxy chooses the space by the server name in the TLS handshake (SNI, RFC 6066), and passes
    the connection through. So only the space's routers or brokers need a private key.
    """

    needs: Sequence[str] = ("domain",)
    client_port = PASSED_THROUGH_PORT

    @abstractmethod
    def lead(self, choice: Choice, namespace: Namespace) -> Applied: ...

    def address(
        self, choice: Choice, namespace: Namespace, service: reported.Service
    ) -> Address | None:
        return outer_host(choice, namespace), PASSED_THROUGH_PORT


def inner_host(namespace: Namespace) -> str:
    """Return the host name by which clients inside the cluster reach the space."""
    return f"{NAME}.{namespace.name}.svc"


def outer_host(choice: Choice, namespace: Namespace) -> str:
    """Return the host name of the space in the domain of the installation, ``choice.domain``."""
    return f"{namespace.name}.{choice.domain}"


def refusal(lead: Reported, reports: Sequence[Sequence[Condition]]) -> str:
    """Return why no traffic passes through ``lead``; empty if it passes, or without a report yet.

    ``reports`` has the conditions from each router or gateway that serves ``lead``.
    """
    refused = [
        " ".join(
            condition.message or condition.reason
            for condition in conditions
            if condition.type in _LEADS and condition.status == "False"
        )
        for conditions in reports
    ]
    # One router or gateway that accepts the route is enough.
    if not refused or not all(refused):
        return ""
    return f"The cluster refuses the {lead.kind} of the space; fix it there: {refused[0]}"
