"""Add ``credit_minor``, the part of a total that credit settles; payments may pay the rest."""

from django.db import migrations, models

PAYMENTS = """
CREATE OR REPLACE FUNCTION plans_payment_within_invoice() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE due bigint; paid bigint;
BEGIN
  SELECT {due} INTO due FROM plans_invoice
    WHERE id = NEW.invoice_id AND number IS NOT NULL FOR UPDATE;
  SELECT coalesce(sum(amount_minor), 0) INTO paid
    FROM plans_payment WHERE invoice_id = NEW.invoice_id;
  IF due IS NULL OR paid + NEW.amount_minor > due THEN
    RAISE EXCEPTION 'a payment needs an issued invoice and never exceeds what is still due'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("plans", "0005_alert_raised_at")]
    operations = [
        migrations.AddField(
            model_name="invoice",
            name="credit_minor",
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddConstraint(
            model_name="invoice",
            constraint=models.CheckConstraint(
                name="invoice_payable",
                condition=models.Q(number__isnull=True)
                | models.Q(total_minor__gte=models.F("credit_minor")),
            ),
        ),
        migrations.RunSQL(
            PAYMENTS.format(due="total_minor - credit_minor"),
            PAYMENTS.format(due="total_minor"),
        ),
    ]
