"""An index for the operators' list of credit notes, the newest first."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("plans", "0023_invoice_releases")]
    operations = [
        migrations.AddIndex(
            model_name="creditnote",
            index=models.Index(fields=["-issued_at", "-number"], name="credit_note_newest_first"),
        ),
    ]
