"""Serializers and fields that several resources share."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from controlplane.api.instants import StoredInstantField
from controlplane.core.models import Operation
from controlplane.core.phases import Condition
from tenants.models import Role


class StrictSerializer(serializers.Serializer[Any]):
    """The base class of request bodies. It refuses unknown fields, such as misspelled ones."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the validated values of ``data``.

        Raises:
            ValidationError: {field: [reason]}: values are wrong or, if none is, fields are unknown.
        """
        values = super().to_internal_value(data)
        # Unknown fields are reported only when all values are right: for a wrong value, DRF has
        # raised above.
        unknown = sorted(set(data) - set(self.fields))
        if unknown:
            known = ", ".join(self.fields)
            raise serializers.ValidationError(
                {name: [f"There is no such field; the fields are {known}."] for name in unknown}
            )
        return values


class ChoiceOf(serializers.ChoiceField):
    """A choice field whose error message lists the choices."""

    def __init__(self, choices: Any, **kwargs: Any) -> None:
        super().__init__(choices, **kwargs)
        known = ", ".join(map(str, self.choices))
        self.error_messages["invalid_choice"] = f'"{{input}}" is none of: {known}.'


class ConditionSerializer(serializers.Serializer[Any]):
    """One observed fact about a space, an address or a user."""

    type = serializers.CharField()
    # Text as on Kubernetes objects, because Unknown is a third value.
    status = serializers.ChoiceField(["True", "False", "Unknown"])
    reason = serializers.CharField()
    message = serializers.CharField()
    detail = serializers.SerializerMethodField(
        help_text="What the platform reports, for staff; empty for everybody else."
    )
    since = StoredInstantField()

    def get_detail(self, condition: Condition) -> str:
        """Return the condition's detail if the caller is staff; empty for everybody else.

        It is also empty if the view did not pass ``for_caller`` as the serializer's context.
        """
        return condition.get("detail", "") if self.context.get("is_staff") else ""


def for_caller(request: Request) -> dict[str, Any]:
    """Return the context with which serializers of spaces, addresses and users show staff more."""
    return {"is_staff": bool(request.user.is_staff)}


class ReconciledSerializer(serializers.Serializer[Any]):
    """The base of spaces, addresses and messaging users: the fields that they share."""

    phase = serializers.CharField()
    generation = serializers.IntegerField()
    # A change is applied when this reaches the ``generation`` that the change got.
    observed_generation = serializers.IntegerField()
    conditions = ConditionSerializer(many=True)
    created_at = serializers.DateTimeField()
    deletion_requested_at = serializers.DateTimeField(allow_null=True)


class StepSerializer(serializers.Serializer[Any]):
    """One step of an operation; ``state`` is done, running, waiting or failed."""

    name = serializers.CharField()
    state = serializers.CharField()
    message = serializers.CharField(allow_blank=True)


class OperationSerializer(serializers.Serializer[Any]):
    """A long-running change that was accepted: poll it until ``state`` is Succeeded or Failed."""

    id = serializers.CharField()
    kind = serializers.CharField()
    subject_type = serializers.CharField()
    # Id and name, because the subject may be gone when its operation is read.
    subject_id = serializers.CharField()
    subject_name = serializers.CharField()
    target_generation = serializers.IntegerField()
    state = serializers.ChoiceField(Operation.State.choices)
    steps = StepSerializer(many=True)
    restarts = serializers.ListField(
        child=serializers.CharField(),
        allow_null=True,
        help_text="Names of the instances that restart for this change, one of each kind at a "
        "time; empty: nothing restarts; null: not known for this kind of operation.",
    )
    messages_changed = serializers.IntegerField(
        allow_null=True,
        min_value=0,
        help_text="How many stored messages were purged, deleted, moved or resent so far; null: "
        "not known yet, or the operation is of another kind.",
    )
    error_code = serializers.CharField(allow_blank=True)
    error_message = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


def role_field() -> serializers.ChoiceField:
    """Return a required field that accepts a role in a tenant (``Role``), such as ``viewer``."""
    return ChoiceOf(Role.choices)
