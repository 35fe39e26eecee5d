"""Indexes for the operators' lists of invoices, built while other programs go on writing."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import ExpressionWrapper, F, Q


class Migration(migrations.Migration):
    atomic = False  # PostgreSQL builds no index concurrently inside a transaction
    dependencies = [("plans", "0009_invoice_time_zone")]
    operations = [
        AddIndexConcurrently(
            model_name="invoice",
            index=models.Index(
                ExpressionWrapper(Q(state="held"), models.BooleanField()).desc(),
                F("starts_at").desc(),
                name="invoice_held_first",
            ),
        ),
        AddIndexConcurrently(
            model_name="invoice",
            index=models.Index(
                fields=["starts_at"],
                include=[
                    "tenant",
                    "state",
                    "currency",
                    "time_zone",
                    "net_minor",
                    "total_minor",
                    "credit_minor",
                ],
                condition=Q(number__isnull=False),
                name="invoice_revenue",
            ),
        ),
    ]
