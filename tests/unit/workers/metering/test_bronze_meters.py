"""The registry of meters and the columns of bronze name the same sampled meters."""

from plans.usage import meters
from workers.metering import bronze


def test_every_sampled_meter_has_a_column_of_its_kind() -> None:
    for kind in (meters.Kind.COUNTER, meters.Kind.PEAK):
        named = {meter.slug for meter in meters.REGISTRY if meter.kind is kind}

        assert named == set(bronze.columns_of_role(kind.value))


def test_every_meter_is_described_for_people() -> None:
    for meter in meters.REGISTRY:
        assert meter.title, meter
        assert meter.unit, meter
        assert meter.plan_text, meter
        assert bool(meter.explanation) is meter.is_sampled, meter
        assert set(meter.parts) <= set(meters.METERS), meter
