"""An index for raised alarms, built while other programs go on writing."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    atomic = False  # PostgreSQL builds no index concurrently inside a transaction
    dependencies = [("notifications", "0001_initial")]
    operations = [
        AddIndexConcurrently(
            model_name="addressalarm",
            index=models.Index(
                fields=["raised_at"], condition=Q(raised_at__isnull=False), name="alarm_raised"
            ),
        ),
    ]
