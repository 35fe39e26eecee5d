"""Add columns for the settings of addresses that ``controlplane.core.address_types`` describes.

Existing rows keep their behavior: without ``expiry``, expired messages go where dead letters go.
"""

from django.db import migrations, models

_TEXTS = {
    "expiry": 255,
    "when_full": 64,
    "exclusive": 64,
    "group_rebalance": 64,
    "last_value_key": 64,
}
_NUMBERS = {
    "message_ttl_default_ms": models.BigIntegerField,
    "message_ttl_min_ms": models.BigIntegerField,
    "redelivery_multiplier": models.IntegerField,
    "max_redelivery_delay_ms": models.BigIntegerField,
    "max_consumers": models.IntegerField,
    "ring_size": models.BigIntegerField,
}


class Migration(migrations.Migration):
    dependencies = [("tenants", "0011_waiting_state")]

    operations = [
        *(
            migrations.AddField(
                "address",
                name,
                models.CharField(blank=True, db_default="", default="", max_length=longest),
            )
            for name, longest in _TEXTS.items()
        ),
        *(
            migrations.AddField("address", name, field(null=True))
            for name, field in _NUMBERS.items()
        ),
    ]
