"""A column for the reasons that staff released."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("plans", "0022_payment_events_to_look_at")]
    operations = [
        migrations.AddField(
            model_name="invoice",
            name="releases",
            field=models.JSONField(db_default=[], default=list),
        ),
    ]
