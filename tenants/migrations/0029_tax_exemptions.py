"""Remove the text of a tax exemption: ``plans.TaxExemption`` has certificate and dates, too."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("tenants", "0028_unpaid_invoices"), ("plans", "0018_sellers")]
    operations = [migrations.RemoveField("tenant", "tax_exemption")]
