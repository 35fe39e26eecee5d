"""Which token of a tenant started an operation, so that this token may read it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("core", "0006_operation_messages_changed")]
    operations = [
        migrations.AddField(
            model_name="operation",
            name="token_id",
            field=models.CharField(blank=True, db_default="", default="", max_length=40),
        ),
    ]
