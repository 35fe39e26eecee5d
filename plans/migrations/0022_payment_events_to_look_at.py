"""An index of the payment events that staff must look at, built while other programs go on writing."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    atomic = False  # PostgreSQL builds no index concurrently inside a transaction
    dependencies = [("plans", "0021_back_test_held")]
    operations = [
        AddIndexConcurrently(
            model_name="paymentevent",
            index=models.Index(
                fields=["-received_at", "-id"],
                condition=Q(state="refused") | (Q(state="waiting") & ~Q(message="")),
                name="payment_event_to_look_at",
            ),
        ),
    ]
