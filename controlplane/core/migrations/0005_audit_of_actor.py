"""An index for the events of one actor of a tenant, built while other programs go on writing."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # PostgreSQL builds no index concurrently inside a transaction
    dependencies = [("core", "0004_indexes_of_tenants")]
    operations = [
        AddIndexConcurrently(
            model_name="auditevent",
            index=models.Index(fields=["tenant_id", "actor", "-at", "-id"], name="audit_of_actor"),
        ),
    ]
