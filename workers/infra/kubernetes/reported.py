"""Models of objects as the cluster reports them: only the fields that Waypost reads.

The client's own models do not fit here. They refuse objects that lack a field, but anybody may
write whatever the API accepts. Here a missing field has a default. ``Reported.document`` is the
whole object, with which ``difference`` compares.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Self

from pydantic import BaseModel, ConfigDict, PrivateAttr, model_validator
from pydantic.alias_generators import to_camel

from workers.infra.kubernetes.objects import JsonObject

_NEVER = datetime.min.replace(tzinfo=UTC)


class Part(BaseModel):
    """A part of a reported object. Unknown fields are ignored; a null field counts as missing."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel)

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, value: object) -> object:
        if isinstance(value, Mapping):
            return {key: item for key, item in value.items() if item is not None}
        return value


class ManagedFields(Part):
    """Which fields one manager wrote, by an ``operation``: ``Apply`` or ``Update``.

    ``fields_v1`` is a tree of field names, each with the prefix ``f:`` (API reference, FieldsV1).
    """

    manager: str = ""
    operation: str = ""
    fields_v1: Mapping[str, object] = {}


class OwnerReference(Part):
    uid: str = ""


class Metadata(Part):
    """The metadata of an object; a list of objects has only ``resource_version``."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    deletion_timestamp: datetime | None = None
    owner_references: Sequence[OwnerReference] = ()
    managed_fields: Sequence[ManagedFields] = ()
    resource_version: str = ""


class Reported(Part):
    """A reported object of any kind. Subclasses add the fields of their kind."""

    # Items of a list come without it; ``Api.list`` adds it.
    kind: str = ""
    metadata: Metadata = Metadata()
    # Private, so that it is neither validated nor compared.
    _document: JsonObject = PrivateAttr(default_factory=dict)

    @classmethod
    def of(cls, document: JsonObject) -> Self:
        """Return the reported object that ``document``, the API's answer, describes.

        Raises:
            pydantic.ValidationError: a field that Waypost reads has another type.
        """
        found = cls.model_validate(document)
        found._document = document
        return found

    @property
    def document(self) -> JsonObject:
        """The whole object as the API returned it."""
        return self._document

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def is_ending(self) -> bool:
        """Whether the object's deletion was requested; the API reports it until it is gone."""
        return self.metadata.deletion_timestamp is not None


class Condition(Part):
    """One condition; ``status`` is ``True``, ``False`` or ``Unknown``."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class ConditionsStatus(Part):
    conditions: Sequence[Condition] = ()


class WithConditions(Reported):
    """A reported namespace or Certificate: of its status Waypost reads only the conditions."""

    status: ConditionsStatus = ConditionsStatus()


class Files(Reported):
    """A reported config map or Secret.

    Only a Secret has a ``type``, and only its values in ``data`` are in base 64.
    """

    type: str = ""
    data: Mapping[str, str] = {}


class Quantities(Part):
    limits: Mapping[str, str] = {}
    requests: Mapping[str, str] = {}


class ContainerSpec(Part):
    resources: Quantities = Quantities()


class TemplateSpec(Part):
    containers: Sequence[ContainerSpec] = ()


class Template(Part):
    metadata: Metadata = Metadata()
    spec: TemplateSpec = TemplateSpec()


class ClaimSpec(Part):
    resources: Quantities = Quantities()
    storage_class_name: str = ""


class ClaimTemplate(Part):
    spec: ClaimSpec = ClaimSpec()


class StatefulSetSpec(Part):
    replicas: int | None = None
    template: Template = Template()
    volume_claim_templates: Sequence[ClaimTemplate] = ()


class StatefulSet(Reported):
    spec: StatefulSetSpec = StatefulSetSpec()
    status: ConditionsStatus = ConditionsStatus()


class ContainerEnd(Part):
    """How a container ended (Kubernetes API reference, ContainerStateTerminated)."""

    # Without a default: the API never omits it, not even if it is 0.
    exit_code: int
    reason: str = ""
    message: str = ""


class ContainerWait(Part):
    reason: str = ""
    message: str = ""


class ContainerState(Part):
    # None means that it did not end. An empty value would not do, because an end need not have a
    # reason or a message.
    terminated: ContainerEnd | None = None
    waiting: ContainerWait = ContainerWait()


class ContainerStatus(Part):
    """The status of one container: ``state`` of its present run, ``last_state`` of the previous."""

    ready: bool = False
    started: bool = False
    restart_count: int = 0
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()


class PodSpec(Part):
    node_name: str = ""


class PodStatus(Part):
    reason: str = ""
    conditions: Sequence[Condition] = ()
    container_statuses: Sequence[ContainerStatus] = ()


class Pod(Reported):
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def is_ready(self) -> bool:
        """Whether the pod's condition ``Ready`` is true: its probe passes, and its node answers."""
        return any(
            condition.type == "Ready" and condition.status == "True"
            for condition in self.status.conditions
        )


class EventSeries(Part):
    last_observed_time: str = ""


class Event(Reported):
    """An event of either event API; times are texts in RFC 3339.

    The older API reports whole seconds, the newer one microseconds.
    """

    reason: str = ""
    message: str = ""
    series: EventSeries = EventSeries()
    last_timestamp: str = ""
    event_time: str = ""

    @property
    def last_seen(self) -> datetime:
        """The time when the event happened last; the year 1 if it is not reported.

        Which field has the time depends on the event API.
        """
        text = self.series.last_observed_time or self.last_timestamp or self.event_time
        try:
            found = datetime.fromisoformat(text)
        except ValueError:
            return _NEVER
        # RFC 3339 has a zone in each time, but anybody may write an event.
        return found if found.tzinfo else found.replace(tzinfo=UTC)


class QuotaStatus(Part):
    used: Mapping[str, str] = {}


class Quota(Reported):
    status: QuotaStatus = QuotaStatus()


class ServicePort(Part):
    node_port: int | None = None


class ServiceSpec(Part):
    type: str = ""
    ports: Sequence[ServicePort] = ()


class BalancerAddress(Part):
    hostname: str = ""
    ip: str = ""


class Balancer(Part):
    ingress: Sequence[BalancerAddress] = ()


class ServiceStatus(Part):
    load_balancer: Balancer = Balancer()


class Service(Reported):
    spec: ServiceSpec = ServiceSpec()
    status: ServiceStatus = ServiceStatus()
