"""The model is called CatalogVersion. Table and columns keep their names: only the state changes."""

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
