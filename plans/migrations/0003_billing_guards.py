"""Create triggers by which the database enforces the rules of billing, even against faulty code.

- Invoice events, ledger rows and payments are never changed or deleted.
- A ledger entry sums to zero at commit.
- Of an issued invoice only the state may change; its lines never change.
- Invoice periods of one tenant do not overlap.
- A number series only counts up by one.
- The payments of an invoice do not exceed its total.
"""

from django.db import migrations

APPEND_ONLY = ("plans_invoiceevent", "plans_ledgerentry", "plans_ledgerposting", "plans_payment")

LEDGER = """
CREATE FUNCTION plans_ledger_sums_to_zero() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE total bigint;
BEGIN
  SELECT coalesce(sum(amount_minor), 0) INTO total
    FROM plans_ledgerposting WHERE entry_id = NEW.entry_id;
  IF total <> 0 THEN
    RAISE EXCEPTION 'ledger entry % sums to %, not to zero', NEW.entry_id, total
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER plans_ledger_sums_to_zero AFTER INSERT ON plans_ledgerposting
  DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION plans_ledger_sums_to_zero();
"""
LEDGER_BACK = """
DROP TRIGGER plans_ledger_sums_to_zero ON plans_ledgerposting;
DROP FUNCTION plans_ledger_sums_to_zero();
"""

ISSUED = """
CREATE FUNCTION plans_invoice_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.number IS NULL THEN
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
  END IF;
  IF TG_OP = 'DELETE' OR
     to_jsonb(NEW) - 'state' - 'updated_at' <> to_jsonb(OLD) - 'state' - 'updated_at' OR
     NEW.state NOT IN
       ('issued', 'partly_paid', 'paid', 'overdue', 'uncollectible', 'voided') THEN
    RAISE EXCEPTION 'invoice % is issued: nothing but its state of payment changes', OLD.number
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER plans_invoice_guard BEFORE UPDATE OR DELETE ON plans_invoice
  FOR EACH ROW EXECUTE FUNCTION plans_invoice_guard();

CREATE FUNCTION plans_invoiceline_guard() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE changed plans_invoiceline := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
BEGIN
  IF EXISTS (SELECT FROM plans_invoice WHERE number IS NOT NULL AND
             (id = changed.invoice_id OR (TG_OP = 'UPDATE' AND id = OLD.invoice_id))) THEN
    RAISE EXCEPTION 'lines of an issued invoice never change'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN changed;
END $$;
CREATE TRIGGER plans_invoiceline_guard BEFORE INSERT OR UPDATE OR DELETE ON plans_invoiceline
  FOR EACH ROW EXECUTE FUNCTION plans_invoiceline_guard();
"""
ISSUED_BACK = """
DROP TRIGGER plans_invoice_guard ON plans_invoice;
DROP FUNCTION plans_invoice_guard();
DROP TRIGGER plans_invoiceline_guard ON plans_invoiceline;
DROP FUNCTION plans_invoiceline_guard();
"""

# The advisory lock per tenant makes two transactions check one after the other. An exclusion
# constraint would need the extension btree_gist, which the embedded PostgreSQL lacks.
PERIODS = """
CREATE FUNCTION plans_invoice_no_overlap() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('plans.invoice:' || NEW.tenant_id, 0));
  IF EXISTS (SELECT FROM plans_invoice WHERE tenant_id = NEW.tenant_id AND id <> NEW.id AND
             starts_at < NEW.ends_at AND ends_at > NEW.starts_at) THEN
    RAISE EXCEPTION 'the period overlaps another invoice of the tenant'
      USING ERRCODE = 'exclusion_violation', CONSTRAINT = 'plans_invoice_no_overlap';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER plans_invoice_no_overlap BEFORE INSERT OR UPDATE OF tenant_id, starts_at, ends_at
  ON plans_invoice FOR EACH ROW EXECUTE FUNCTION plans_invoice_no_overlap();
"""
PERIODS_BACK = """
DROP TRIGGER plans_invoice_no_overlap ON plans_invoice;
DROP FUNCTION plans_invoice_no_overlap();
"""

SERIES = """
CREATE FUNCTION plans_series_counts_by_one() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' OR NEW.legal_entity <> OLD.legal_entity OR
     NEW.last_number <> OLD.last_number + 1 THEN
    RAISE EXCEPTION 'a series of invoice numbers only counts up by one'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER plans_series_counts_by_one BEFORE UPDATE OR DELETE ON plans_invoicenumberseries
  FOR EACH ROW EXECUTE FUNCTION plans_series_counts_by_one();
"""
SERIES_BACK = """
DROP TRIGGER plans_series_counts_by_one ON plans_invoicenumberseries;
DROP FUNCTION plans_series_counts_by_one();
"""

# FOR UPDATE locks the invoice row, so that two payments at once are checked one after the other.
PAYMENTS = """
CREATE FUNCTION plans_payment_within_invoice() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE due bigint; paid bigint;
BEGIN
  SELECT total_minor INTO due FROM plans_invoice
    WHERE id = NEW.invoice_id AND number IS NOT NULL FOR UPDATE;
  SELECT coalesce(sum(amount_minor), 0) INTO paid
    FROM plans_payment WHERE invoice_id = NEW.invoice_id;
  IF due IS NULL OR paid + NEW.amount_minor > due THEN
    RAISE EXCEPTION 'a payment needs an issued invoice and never exceeds what is still due'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER plans_payment_within_invoice BEFORE INSERT ON plans_payment
  FOR EACH ROW EXECUTE FUNCTION plans_payment_within_invoice();
"""
PAYMENTS_BACK = """
DROP TRIGGER plans_payment_within_invoice ON plans_payment;
DROP FUNCTION plans_payment_within_invoice();
"""


def _append_only(table: str) -> migrations.RunSQL:
    return migrations.RunSQL(
        f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} "
        "FOR EACH ROW EXECUTE FUNCTION core_refuse_change();",
        f"DROP TRIGGER {table}_append_only ON {table};",
    )


class Migration(migrations.Migration):
    dependencies = [("plans", "0002_initial"), ("core", "0002_audit_append_only")]
    operations = [
        *[_append_only(table) for table in APPEND_ONLY],
        migrations.RunSQL(LEDGER, LEDGER_BACK),
        migrations.RunSQL(ISSUED, ISSUED_BACK),
        migrations.RunSQL(PERIODS, PERIODS_BACK),
        migrations.RunSQL(SERIES, SERIES_BACK),
        migrations.RunSQL(PAYMENTS, PAYMENTS_BACK),
    ]
