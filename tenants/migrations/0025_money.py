"""Add the status of the tax id's form, and the text of a tax exemption.

Safe beside the previous version: both columns have defaults in the database.
"""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tenants', '0024_identity_providers'),
    ]

    operations = [
        migrations.AddField(
            model_name='tenant',
            name='tax_exemption',
            field=models.CharField(blank=True, db_default='', default='', max_length=300),
        ),
        migrations.AddField(
            model_name='tenant',
            name='tax_id_status',
            field=models.CharField(blank=True, db_default='', default='', max_length=20),
        ),
    ]
