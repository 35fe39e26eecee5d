"""Add the newest readings of addresses, and their history in tables partitioned by day.

``tenants.reading_history`` makes and drops the partitions. The default partition holds the rows of
days that have no partition, such as those of the first day.
"""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

_COLUMNS = ("messages_in", "messages_out", "depth", "stored_bytes", "consumers")


def _create(table):
    arrays = ", ".join(f"{name} bigint[] NOT NULL" for name in _COLUMNS)
    return f"""
        CREATE TABLE {table} (
            address_id varchar(40) NOT NULL
                REFERENCES tenants_address (id) DEFERRABLE INITIALLY DEFERRED,
            starts_at timestamptz NOT NULL,
            last_step smallint NOT NULL,
            {arrays},
            PRIMARY KEY (address_id, starts_at)
        ) PARTITION BY RANGE (starts_at);
        CREATE TABLE {table}_default PARTITION OF {table} DEFAULT;
        """


def _history(name):
    arrays = [
        (
            column,
            django.contrib.postgres.fields.ArrayField(
                base_field=models.BigIntegerField(null=True), size=None
            ),
        )
        for column in _COLUMNS
    ]
    table = f"tenants_{name.lower()}"
    state = migrations.CreateModel(
        name=name,
        fields=[
            (
                "pk",
                models.CompositePrimaryKey(
                    "address_id",
                    "starts_at",
                    blank=True,
                    editable=False,
                    primary_key=True,
                    serialize=False,
                ),
            ),
            ("starts_at", models.DateTimeField()),
            ("last_step", models.SmallIntegerField()),
            *arrays,
            (
                "address",
                models.ForeignKey(
                    on_delete=django.db.models.deletion.CASCADE,
                    related_name="+",
                    to="tenants.address",
                ),
            ),
        ],
        options={"abstract": False},
    )
    return migrations.SeparateDatabaseAndState(
        [migrations.RunSQL(_create(table), f"DROP TABLE {table}")], [state]
    )


class Migration(migrations.Migration):
    dependencies = [("tenants", "0012_address_settings")]

    operations = [
        migrations.CreateModel(
            name="SpaceReading",
            fields=[
                (
                    "space",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        serialize=False,
                        to="tenants.addressspace",
                    ),
                ),
                ("answered", models.JSONField(default=dict)),
            ],
        ),
        migrations.CreateModel(
            name="AddressReading",
            fields=[
                (
                    "address",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="reading",
                        serialize=False,
                        to="tenants.address",
                    ),
                ),
                ("parts", models.JSONField(default=dict)),
                ("messages_in", models.BigIntegerField(default=0)),
                ("messages_out", models.BigIntegerField(default=0)),
                ("in_per_second", models.FloatField(null=True)),
                ("out_per_second", models.FloatField(null=True)),
                ("minute_at", models.DateTimeField(null=True)),
                ("minute_in", models.BigIntegerField(default=0)),
                ("minute_out", models.BigIntegerField(default=0)),
                ("quarter_at", models.DateTimeField(null=True)),
                ("quarter_in", models.BigIntegerField(default=0)),
                ("quarter_out", models.BigIntegerField(default=0)),
            ],
        ),
        _history("AddressMinutes"),
        _history("AddressQuarters"),
    ]
