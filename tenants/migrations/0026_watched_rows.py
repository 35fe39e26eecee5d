"""Indexes for the cycle of notifications, built while other programs go on writing."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    atomic = False  # PostgreSQL builds no index concurrently inside a transaction
    dependencies = [("tenants", "0025_money")]
    operations = [
        AddIndexConcurrently(
            model_name="addressspace",
            index=models.Index(
                fields=["id"],
                condition=Q(
                    deletion_requested_at__isnull=True,
                    conditions__contains=[{"type": "Ready", "status": "False"}],
                ),
                name="space_not_ready",
            ),
        ),
        AddIndexConcurrently(
            model_name="addressspace",
            index=models.Index(
                fields=["id"],
                condition=Q(
                    deletion_requested_at__isnull=True,
                    conditions__contains=[{"type": "Certificate", "status": "False"}],
                ),
                name="space_certificate_bad",
            ),
        ),
        AddIndexConcurrently(
            model_name="apitoken",
            index=models.Index(
                fields=["expires_at"],
                condition=Q(revoked_at__isnull=True, expires_at__isnull=False),
                name="api_token_expires",
            ),
        ),
    ]
