"""Add the live connections of clients, requests to close some, and two times of a space."""

import controlplane.core.ids
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tenants', '0013_address_readings'),
    ]

    operations = [
        migrations.AddField(
            model_name='addressspace',
            name='probed_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='addressspace',
            name='silent_since',
            field=models.DateTimeField(null=True),
        ),
        migrations.CreateModel(
            name='ClientConnection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=160)),
                ('instance', models.CharField(max_length=40)),
                ('connection_id', models.CharField(max_length=120)),
                ('messaging_user', models.CharField(blank=True, max_length=255)),
                ('container', models.CharField(blank=True, max_length=255)),
                ('remote_host', models.CharField(blank=True, max_length=255)),
                ('protocol', models.CharField(blank=True, max_length=40)),
                ('product', models.CharField(blank=True, max_length=120)),
                ('tls', models.CharField(blank=True, max_length=120)),
                ('opened_at', models.DateTimeField(null=True)),
                ('sessions', models.PositiveIntegerField(null=True)),
                ('links', models.PositiveIntegerField(default=0)),
                ('addresses', models.JSONField(default=list)),
                ('sent', models.BigIntegerField(null=True)),
                ('received', models.BigIntegerField(null=True)),
                ('space', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='connections', to='tenants.addressspace')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('space', 'name'), name='client_connection_once')],
            },
        ),
        migrations.CreateModel(
            name='Disconnection',
            fields=[
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('id', models.CharField(default=controlplane.core.ids.disconnection_id, max_length=40, primary_key=True, serialize=False)),
                ('messaging_user', models.CharField(blank=True, max_length=255)),
                ('targets', models.JSONField(default=list)),
                ('done_on', models.JSONField(default=list)),
                ('closed', models.PositiveIntegerField(default=0)),
                ('finished_at', models.DateTimeField(null=True)),
                ('space', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.addressspace')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('finished_at__isnull', True)), fields=['created_at'], name='disconnection_unfinished')],
            },
        ),
        migrations.CreateModel(
            name='InstanceConnections',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('instance', models.CharField(max_length=40)),
                ('boot_id', models.CharField(max_length=255)),
                ('as_of', models.DateTimeField()),
                ('total', models.PositiveIntegerField()),
                ('listed', models.PositiveIntegerField()),
                ('space', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.addressspace')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('space', 'instance'), name='instance_connections_once')],
            },
        ),
    ]
