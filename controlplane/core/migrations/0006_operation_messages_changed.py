"""How many messages an operation has changed, which its steps said as text only."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("core", "0005_audit_of_actor")]
    operations = [
        migrations.AddField(
            model_name="operation",
            name="messages_changed",
            field=models.BigIntegerField(null=True),
        ),
    ]
