"""Models of credit notes and of the series of their numbers."""

from django.db import models
from django.db.models import Q

from controlplane.core import ids


class CreditNoteNumberSeries(models.Model):
    """The last number that a credit note of one legal entity got; 0 if none was issued.

    The series is apart from the one of invoices. Numbers have no gaps: issuing locks the row.
    """

    legal_entity = models.CharField(primary_key=True, max_length=63)
    last_number = models.PositiveBigIntegerField(default=0)


class CreditNote(models.Model):
    """Takes back all or a part of one issued invoice. Append-only, issued when it is created.

    ``document`` is its canonical JSON (see ``plans.invoicing.credit_note_document``). Amounts are
    positive and in minor units of ``currency``. Of the total, ``receivable_minor`` reduces what is
    due for the invoice; the rest, ``credit_minor``, was paid already and becomes credit of the
    tenant.
    """

    id = models.CharField(primary_key=True, max_length=40, default=ids.credit_note_id)
    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.PROTECT, related_name="credit_notes"
    )
    invoice = models.ForeignKey(
        "plans.Invoice", on_delete=models.PROTECT, related_name="credit_notes"
    )
    number = models.CharField(max_length=40, unique=True)
    legal_entity = models.CharField(max_length=63)
    currency = models.CharField(max_length=3)
    net_minor = models.BigIntegerField()
    tax_minor = models.BigIntegerField()
    total_minor = models.BigIntegerField()
    receivable_minor = models.BigIntegerField()
    credit_minor = models.BigIntegerField()
    reason = models.TextField()
    # Text, because a verification compares its bytes, and jsonb keeps no order of keys.
    document = models.TextField()
    issued_at = models.DateTimeField()
    issued_by = models.CharField(max_length=255)

    class Meta:
        indexes = [
            # The operators' list.
            models.Index(fields=["-issued_at", "-number"], name="credit_note_newest_first")
        ]
        constraints = [
            models.CheckConstraint(
                name="credit_note_sums",
                condition=Q(total_minor=models.F("net_minor") + models.F("tax_minor"))
                & Q(total_minor=models.F("receivable_minor") + models.F("credit_minor")),
            ),
            models.CheckConstraint(
                name="credit_note_positive",
                condition=Q(total_minor__gt=0, receivable_minor__gte=0, credit_minor__gte=0),
            ),
        ]
