"""An index for invoices that are not issued, built while other programs go on writing."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    atomic = False  # PostgreSQL builds no index concurrently inside a transaction
    dependencies = [("plans", "0026_invoice_issued_index")]
    operations = [
        AddIndexConcurrently(
            model_name="invoice",
            index=models.Index(
                fields=["starts_at"], name="invoice_not_issued", condition=Q(number__isnull=True)
            ),
        ),
    ]
