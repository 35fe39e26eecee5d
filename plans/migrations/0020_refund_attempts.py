"""Add when a worker asks the provider for a refund again.

Safe beside the previous version: it inserts refunds without the column, and asks each minute.
"""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('plans', '0019_drill_down'),
    ]

    operations = [
        migrations.AddField(
            model_name='refund',
            name='next_attempt_at',
            field=models.DateTimeField(null=True),
        ),
    ]
