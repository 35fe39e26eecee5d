"""An index for mails that were given up, built while other programs go on writing."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    atomic = False  # PostgreSQL builds no index concurrently inside a transaction
    dependencies = [("notifications", "0002_raised_alarms")]
    operations = [
        AddIndexConcurrently(
            model_name="delivery",
            index=models.Index(
                fields=["ended_at"],
                condition=Q(state="failed", channel__isnull=True),
                name="delivery_mail_failed",
            ),
        ),
    ]
