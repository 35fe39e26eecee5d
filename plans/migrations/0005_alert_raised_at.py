from django.db import migrations, models
from django.utils import timezone


class Migration(migrations.Migration):

    dependencies = [
        ("plans", "0004_catalogue_may_return"),
    ]

    operations = [
        migrations.AlterField(
            model_name="quotaalert",
            name="raised_at",
            field=models.DateTimeField(default=timezone.now),
        ),
    ]
