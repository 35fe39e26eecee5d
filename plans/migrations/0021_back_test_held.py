"""Add the tenants that a back-test leaves out.

Safe beside the previous version: it inserts back-tests without the column.
"""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('plans', '0020_refund_attempts'),
    ]

    operations = [
        migrations.AddField(
            model_name='backtest',
            name='held',
            field=models.JSONField(db_default=[], default=list),
        ),
    ]
