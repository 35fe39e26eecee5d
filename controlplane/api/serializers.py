"""Serializers and fields that several resources share."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from controlplane.core.models import Operation
from controlplane.core.phases import Condition
from tenants.models import Role


class StrictSerializer(serializers.Serializer[Any]):
    """Input that refuses unknown fields, so that a misspelled one is not silently ignored."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the validated values.

        Raises:
            ValidationError: {field: [reason]}.
        """
        values = super().to_internal_value(data)
        # Unknown names are reported only when all values are right, because DRF has raised for
        # wrong values above.
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
    since = serializers.DateTimeField()

    def get_detail(self, condition: Condition) -> str:
        """Return the detail if the caller is staff: views pass ``for_caller`` as context."""
        return condition.get("detail", "") if self.context.get("is_staff") else ""


def for_caller(request: Request) -> dict[str, Any]:
    """Return the context of serializers of reconciled objects: what the caller may read of them."""
    return {"is_staff": bool(request.user.is_staff)}


class ReconciledSerializer(serializers.Serializer[Any]):
    """The fields that spaces, addresses and messaging users share."""

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
    """A long-running request: poll it until ``state`` is Succeeded or Failed."""

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
    error_code = serializers.CharField(allow_blank=True)
    error_message = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


def role_field() -> serializers.ChoiceField:
    """Return a field that accepts the role of a member or of a token, such as ``viewer``."""
    return ChoiceOf(Role.choices)
