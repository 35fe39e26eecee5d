"""Indexes for the lists of one tenant, built while other programs go on writing."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # PostgreSQL builds no index concurrently inside a transaction
    dependencies = [("core", "0003_operation_restarts")]
    operations = [
        AddIndexConcurrently(
            model_name="operation",
            index=models.Index(
                fields=["tenant_id", "-created_at", "-id"], name="operation_of_tenant"
            ),
        ),
        AddIndexConcurrently(
            model_name="operation",
            index=models.Index(
                fields=["tenant_id", "created_at"],
                condition=models.Q(state="Running"),
                name="operation_running",
            ),
        ),
        AddIndexConcurrently(
            model_name="auditevent",
            index=models.Index(fields=["tenant_id", "-at", "-id"], name="audit_of_tenant"),
        ),
    ]
