"""Let an invoice replace a voided one of the same period.

Safe beside the previous version: the rows that it writes replace nothing.
"""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

# As in migration 0003, with one difference: a replacement has the period of the voided invoice that
# it replaces, and no other.
PERIODS = """
CREATE OR REPLACE FUNCTION plans_invoice_no_overlap() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('plans.invoice:' || NEW.tenant_id, 0));
  IF NEW.replaces_id IS NOT NULL THEN
    IF NOT EXISTS (SELECT FROM plans_invoice WHERE id = NEW.replaces_id AND state = 'voided' AND
                   tenant_id = NEW.tenant_id AND starts_at = NEW.starts_at AND
                   ends_at = NEW.ends_at) THEN
      RAISE EXCEPTION 'an invoice replaces only a voided one of the same tenant and period'
        USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
  END IF;
  IF EXISTS (SELECT FROM plans_invoice WHERE tenant_id = NEW.tenant_id AND id <> NEW.id AND
             replaces_id IS NULL AND starts_at < NEW.ends_at AND ends_at > NEW.starts_at) THEN
    RAISE EXCEPTION 'the period overlaps another invoice of the tenant'
      USING ERRCODE = 'exclusion_violation', CONSTRAINT = 'plans_invoice_no_overlap';
  END IF;
  RETURN NEW;
END $$;
"""
PERIODS_BACK = """
CREATE OR REPLACE FUNCTION plans_invoice_no_overlap() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('plans.invoice:' || NEW.tenant_id, 0));
  IF EXISTS (SELECT FROM plans_invoice WHERE tenant_id = NEW.tenant_id AND id <> NEW.id AND
             starts_at < NEW.ends_at AND ends_at > NEW.starts_at) THEN
    RAISE EXCEPTION 'the period overlaps another invoice of the tenant'
      USING ERRCODE = 'exclusion_violation', CONSTRAINT = 'plans_invoice_no_overlap';
  END IF;
  RETURN NEW;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("plans", "0024_credit_note_issued_index")]
    operations = [
        migrations.AddField(
            model_name="invoice",
            name="replaces",
            field=models.OneToOneField(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="replacement",
                to="plans.invoice",
            ),
        ),
        migrations.RemoveConstraint(model_name="invoice", name="invoice_period_once"),
        migrations.AddConstraint(
            model_name="invoice",
            constraint=models.UniqueConstraint(
                fields=["tenant", "starts_at"],
                name="invoice_period_once",
                condition=Q(replaces__isnull=True),
            ),
        ),
        migrations.RunSQL(PERIODS, PERIODS_BACK),
    ]
