"""An index for the operators' list of credit notes, built while other programs go on writing."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # PostgreSQL builds no index concurrently inside a transaction
    dependencies = [("plans", "0023_invoice_releases")]
    operations = [
        AddIndexConcurrently(
            model_name="creditnote",
            index=models.Index(fields=["-issued_at", "-number"], name="credit_note_newest_first"),
        ),
    ]
