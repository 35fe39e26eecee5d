
import controlplane.core.ids
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tenants', '0014_client_connections'),
    ]

    operations = [
        migrations.CreateModel(
            name='MessageRequest',
            fields=[
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('id', models.CharField(default=controlplane.core.ids.message_request_id, max_length=40, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('browse', 'Browse'), ('send', 'Send'), ('purge', 'Purge'), ('delete', 'Delete'), ('move', 'Move'), ('resend', 'Resend')], max_length=10)),
                ('arguments', models.JSONField(default=dict)),
                ('sealed', models.TextField(blank=True)),
                ('progress', models.JSONField(default=dict)),
                ('done', models.BigIntegerField(default=0)),
                ('total', models.BigIntegerField(null=True)),
                ('requested_by', models.CharField(max_length=255)),
                ('finished_at', models.DateTimeField(null=True)),
                ('address', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.address')),
                ('space', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.addressspace')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('finished_at__isnull', True)), fields=['created_at'], name='message_request_open')],
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['browse', 'send', 'purge', 'delete', 'move', 'resend'])), name='message_request_kind_known'), models.UniqueConstraint(condition=models.Q(('finished_at__isnull', True), models.Q(('kind', 'browse'), _negated=True)), fields=('address',), name='message_request_one_change')],
            },
        ),
    ]
