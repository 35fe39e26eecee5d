"""Endpoints behind an ingress controller that passes TLS through."""

from kubernetes import client as k8s

from controlplane.core.instance_names import Listener
from workers.infra.base import Namespace
from workers.infra.kubernetes import resources
from workers.infra.kubernetes.endpoints.kind import NAME, Choice, PassedThrough, outer_host
from workers.infra.kubernetes.objects import space_metadata

# Annotations that make the controller pass TLS through. Each controller has its own, and ignores
# those of the others.
_PASSING = {
    "nginx.ingress.kubernetes.io/ssl-passthrough": "true",
    "haproxy.org/ssl-passthrough": "true",
    "haproxy-ingress.github.io/ssl-passthrough": "true",
}


class Ingress(PassedThrough):
    """The kind ``ingress``: an Ingress for each space, annotated for three controllers."""

    outside = resources.INGRESS

    def lead(self, choice: Choice, namespace: Namespace) -> k8s.V1Ingress:
        host = outer_host(choice, namespace)
        backend = k8s.V1IngressBackend(
            service=k8s.V1IngressServiceBackend(
                name=NAME, port=k8s.V1ServiceBackendPort(name=Listener.AMQPS.value)
            )
        )
        path = k8s.V1HTTPIngressPath(path="/", path_type="Prefix", backend=backend)
        rule = k8s.V1IngressRule(host=host, http=k8s.V1HTTPIngressRuleValue(paths=[path]))
        return k8s.V1Ingress(
            # The installation's annotations come last, so that they can override these.
            metadata=space_metadata(namespace, NAME, {**_PASSING, **choice.annotations}),
            spec=k8s.V1IngressSpec(
                # Without a class name the cluster's default class applies.
                ingress_class_name=choice.class_name or None,
                tls=[k8s.V1IngressTLS(hosts=[host])],
                rules=[rule],
            ),
        )
