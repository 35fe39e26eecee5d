"""Add the usage that is not landed yet, spend caps of tenants, and both parts of an alert's use.

Safe beside the previous version: it writes none of the rows, and the new columns have defaults.
"""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('plans', '0016_catalog_dates'),
        ('tenants', '0027_restrictions'),
    ]

    operations = [
        migrations.CreateModel(
            name='UsageTail',
            fields=[
                ('tenant', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='usage_tail', serialize=False, to='tenants.tenant')),
                ('since', models.DateTimeField()),
                ('counted', models.JSONField(default=dict)),
                ('sampled_at', models.DateTimeField()),
                ('evaluated_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.AddField(
            model_name='quotaalert',
            name='currency',
            field=models.CharField(blank=True, db_default='', default='', max_length=3),
        ),
        migrations.AddField(
            model_name='quotaalert',
            name='tail',
            field=models.BigIntegerField(db_default=0, default=0),
        ),
        migrations.CreateModel(
            name='SpendCap',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('amount_minor', models.BigIntegerField()),
                ('currency', models.CharField(max_length=3)),
                ('action', models.CharField(max_length=20)),
                ('set_by', models.CharField(max_length=255)),
                ('tenant', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='spend_cap', to='tenants.tenant')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('amount_minor__gt', 0)), name='spend_cap_positive')],
            },
        ),
    ]
