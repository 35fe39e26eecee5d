"""Add the history of runs of the Spark jobs on the lakehouse."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('workers', '0008_file_hashes'),
    ]

    operations = [
        migrations.CreateModel(
            name='LakehouseRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('job', models.CharField(choices=[('pipeline', 'Pipeline'), ('housekeeping', 'Housekeeping')], max_length=20)),
                ('started_at', models.DateTimeField()),
                ('seconds', models.FloatField()),
                ('cpu_seconds', models.FloatField(default=0)),
                ('n_samples', models.BigIntegerField(default=0)),
                ('n_quarantined', models.BigIntegerField(default=0)),
                ('files', models.JSONField(default=dict)),
                ('error_code', models.CharField(blank=True, max_length=80)),
            ],
            options={
                'indexes': [models.Index(fields=['job', '-started_at'], name='lakehouse_run_newest')],
            },
        ),
    ]
