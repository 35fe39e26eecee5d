"""Add the time zone of an invoice's period, which only its document had.

Safe beside the previous version: it leaves the column empty, and readers then take the document.
"""

from django.db import migrations, models

# After issue nothing but the state of an invoice may change. This column repeats the document.
COPY = """
ALTER TABLE plans_invoice DISABLE TRIGGER plans_invoice_guard;
UPDATE plans_invoice SET time_zone = coalesce(document::json #>> '{period,time_zone}', '')
  WHERE document <> '';
ALTER TABLE plans_invoice ENABLE TRIGGER plans_invoice_guard;
"""


class Migration(migrations.Migration):
    dependencies = [("plans", "0008_usage_sums")]
    operations = [
        migrations.AddField(
            model_name="invoice",
            name="time_zone",
            field=models.CharField(blank=True, db_default="", default="", max_length=60),
        ),
        migrations.RunSQL(COPY, migrations.RunSQL.noop),
    ]
