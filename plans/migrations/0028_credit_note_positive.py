"""Let a credit note take back an invoice that is below zero before tax, and above it with tax.

Safe beside the previous version: what that one writes meets the new condition, too.
"""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("plans", "0027_invoice_not_issued_index")]
    operations = [
        migrations.RemoveConstraint(model_name="creditnote", name="credit_note_positive"),
        migrations.AddConstraint(
            model_name="creditnote",
            constraint=models.CheckConstraint(
                name="credit_note_positive",
                condition=Q(total_minor__gt=0, receivable_minor__gte=0, credit_minor__gte=0),
            ),
        ),
    ]
