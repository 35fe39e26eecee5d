"""What the builders of objects share: metadata, selectors, and the JSON of a model. Pure.

The models are those of the Kubernetes client (docs/adr/0012).
"""

from collections.abc import Mapping

from kubernetes import client as k8s
from pydantic import BaseModel

from controlplane.core.instance_names import Kind
from workers.infra.base import InstanceSpec, Namespace
from workers.infra.kubernetes import labels

# A JSON object as the API accepts or returns it. Builders use the client's models instead, and
# readers those of ``reported``.
JsonObject = Mapping[str, object]


def json_of(model: BaseModel) -> dict[str, object]:
    """Return the JSON object of a model, with the API's field names and without unset fields."""
    return model.model_dump(by_alias=True, exclude_none=True)


def space_metadata(
    namespace: Namespace, name: str, annotations: Mapping[str, str] | None = None
) -> k8s.V1ObjectMeta:
    """Return the metadata, with labels, of an object that belongs to the space as a whole."""
    return k8s.V1ObjectMeta(
        name=name,
        namespace=namespace.name,
        labels=labels.of_space(namespace),
        # None leaves the field out. An empty mapping would be part of the object's digest.
        annotations=dict(annotations) if annotations else None,
    )


def instance_metadata(spec: InstanceSpec, name: str) -> k8s.V1ObjectMeta:
    """Return the metadata, with labels, of an object that belongs to one broker or router."""
    return k8s.V1ObjectMeta(
        name=name,
        namespace=spec.namespace.name,
        labels=labels.of_instance(spec.namespace, spec.kind, spec.name),
    )


def selector_of(kind: Kind) -> k8s.V1LabelSelector:
    """Return the selector of all pods of one kind of instance in a namespace."""
    return k8s.V1LabelSelector(match_labels=labels.select_component(kind))
