"""Rename the model to CatalogVersion in Python only: table and columns keep their names."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("plans", "0006_invoice_credit")]
    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RenameModel("CatalogueVersion", "CatalogVersion"),
                migrations.AlterModelTable("CatalogVersion", "plans_catalogueversion"),
            ]
        )
    ]
