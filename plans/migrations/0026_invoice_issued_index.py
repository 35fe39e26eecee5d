"""An index for reports of issued invoices, built while other programs go on writing."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    atomic = False  # PostgreSQL builds no index concurrently inside a transaction
    dependencies = [("plans", "0025_invoice_replaces")]
    operations = [
        AddIndexConcurrently(
            model_name="invoice",
            index=models.Index(
                fields=["issued_at"], name="invoice_issued", condition=Q(issued_at__isnull=False)
            ),
        ),
    ]
