"""Add what a used-up quota does to clients of a space besides withdrawing the right to send.

Safe beside the previous version, which does not know the columns and restricts nothing by them.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tenants", "0026_watched_rows")]

    operations = [
        migrations.AddField(
            model_name="addressspace",
            name="throttle_percent",
            field=models.PositiveSmallIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="addressspace",
            name="connections_refused",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
