"""Add watermark and files of a run, and the copy of quarantined samples, for the page Pipeline."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('workers', '0010_moved_sources'),
    ]

    operations = [
        migrations.AddField(
            model_name='lakehouserun',
            name='as_of',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='lakehouserun',
            name='n_files',
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.CreateModel(
            name='QuarantinedSample',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('table_id', models.CharField(max_length=64)),
                ('table_version', models.BigIntegerField()),
                ('copied_at', models.DateTimeField()),
                ('tenant_id', models.CharField(max_length=40)),
                ('space_id', models.CharField(max_length=40)),
                ('source', models.CharField(max_length=120)),
                ('boot_id', models.CharField(max_length=80)),
                ('address', models.CharField(max_length=300)),
                ('seq', models.BigIntegerField(null=True)),
                ('epoch', models.BigIntegerField(null=True)),
                ('taken_at', models.DateTimeField(null=True)),
                ('batch_id', models.CharField(max_length=64)),
                ('reason', models.CharField(max_length=20)),
                ('detail', models.TextField(blank=True)),
            ],
            options={
                'indexes': [models.Index(fields=['-copied_at', '-id'], name='quarantined_sample_newest')],
                'constraints': [models.UniqueConstraint(fields=('source', 'boot_id', 'seq', 'address', 'epoch', 'reason'), name='quarantined_sample_once', nulls_distinct=False)],
            },
        ),
    ]
