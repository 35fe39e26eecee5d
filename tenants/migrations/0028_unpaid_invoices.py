"""Add what unpaid invoices keep a tenant from.

Safe beside the previous version, which does not write the column.
"""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tenants', '0027_restrictions'),
    ]

    operations = [
        migrations.AddField(
            model_name='tenant',
            name='unpaid_stage',
            field=models.CharField(blank=True, choices=[('', 'None'), ('limited', 'Limited'), ('suspended', 'Suspended')], db_default='', default='', max_length=10),
        ),
        migrations.AddIndex(
            model_name='tenant',
            index=models.Index(condition=models.Q(('unpaid_stage', ''), _negated=True), fields=['unpaid_stage'], name='tenant_unpaid'),
        ),
    ]
