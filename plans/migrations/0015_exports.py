from django.db import migrations, models


class Migration(migrations.Migration):
    """Add the codes that an accounting system has for accounts of the ledger."""

    dependencies = [("plans", "0014_payments")]

    operations = [
        migrations.CreateModel(
            name="AccountCode",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("legal_entity", models.CharField(max_length=63)),
                ("account", models.CharField(max_length=80)),
                ("code", models.CharField(max_length=40)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("legal_entity", "account"), name="account_code_once"
                    )
                ],
            },
        ),
        migrations.AddIndex(
            model_name="ledgerentry",
            index=models.Index(fields=["booked_at"], name="ledger_entry_booked"),
        ),
    ]
