"""Rename ``EngineRelease.shape`` in Python only: the column keeps its name."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tenants", "0009_router_patches")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveConstraint("enginerelease", "engine_release_once"),
                migrations.AlterField(
                    "enginerelease",
                    "shape",
                    models.CharField(blank=True, db_column="shape", max_length=16),
                ),
                migrations.RenameField("enginerelease", "shape", "template_hash"),
                migrations.AddConstraint(
                    "enginerelease",
                    models.UniqueConstraint(
                        fields=("broker_image", "router_image", "template_hash"),
                        name="engine_release_once",
                    ),
                ),
            ]
        )
    ]
