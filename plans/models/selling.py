"""Models of who sells to a tenant, and of what decides its tax besides its country."""

from django.db import models
from django.db.models import Q

from controlplane.core import ids
from controlplane.core.models import Timestamped


class SellerAssignment(Timestamped):
    """The legal entity that sells to one tenant, and the currency of the tenant's invoices.

    A tenant without a row buys from the main seller of the newest catalog. Once the tenant has an
    issued invoice, a trigger refuses another seller or currency in the row, and its deletion.
    """

    tenant = models.OneToOneField(
        "tenants.Tenant", on_delete=models.PROTECT, related_name="seller_assignment"
    )
    legal_entity = models.CharField(max_length=63)
    currency = models.CharField(max_length=3)
    assigned_by = models.CharField(max_length=255)


class TaxExemption(Timestamped):
    """A certificate by which a tenant pays no tax for services completed in [starts_on, ends_on].

    Without ``ends_on`` it has no end; with one before ``starts_on`` it never counts. Days are those
    of the tenant's billing time zone. ``category`` is the code of EN 16931: E (exempt) or Z (zero
    rate). ``text`` is what invoices print. Only ``ends_on`` ever changes.
    """

    class Category(models.TextChoices):
        EXEMPT = "E", "Exempt"
        ZERO = "Z", "Zero rate"

    id = models.CharField(primary_key=True, max_length=40, default=ids.tax_exemption_id)
    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.PROTECT, related_name="tax_exemptions"
    )
    category = models.CharField(max_length=1, choices=Category.choices)
    certificate = models.CharField(max_length=60)
    text = models.CharField(max_length=300)
    starts_on = models.DateField()
    ends_on = models.DateField(null=True)
    set_by = models.CharField(max_length=255)

    class Meta:
        constraints = [
            # The countries of both parties decide the other categories (``plans.rating.taxes``).
            models.CheckConstraint(
                name="tax_exemption_category", condition=Q(category__in=["E", "Z"])
            )
        ]


class TaxIdCheck(models.Model):
    """One check of a tenant's tax id. Append-only; the newest row has the present status.

    ``status`` is a value of ``plans.rating.vat_ids.Status``. ``confirmed_by`` is the member of the
    staff who asked the register, with the ``reference`` of its answer; empty: only the form was
    checked.
    """

    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.PROTECT, related_name="tax_id_checks"
    )
    tax_id = models.CharField(max_length=60, blank=True)
    country = models.CharField(max_length=2, blank=True)
    status = models.CharField(max_length=20)
    checked_at = models.DateTimeField()
    confirmed_by = models.CharField(max_length=255, blank=True)
    reference = models.CharField(max_length=120, blank=True)

    class Meta:
        indexes = [models.Index(fields=["tenant", "-id"], name="tax_id_check_newest")]
