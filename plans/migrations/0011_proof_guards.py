"""Protect the rows that prices depend on, and record the hash of documents in the history.

- Catalog versions never change. Of a plan version that an issued invoice was priced with, only
  ``retired`` changes. None of them is deleted.
- A subscription does not change inside a period that has an issued invoice: it gets no other plan,
  tenant or time there, and none begins, ends or is deleted there.
"""

from django.db import migrations, models

# Table -> the meter of its hours; commercial plans have none.
PLANS = {
    "plans_plan": "",
    "plans_spaceplan": "space_hours",
    "plans_addressplan": "address_hours",
}

# An invoice names the plan versions whose hours it prices in ``lived`` of its manifest.
PLAN = """
CREATE FUNCTION plans_plan_guard() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE billed text;
BEGIN
  IF TG_OP = 'UPDATE' AND to_jsonb(NEW) - 'retired' = to_jsonb(OLD) - 'retired' THEN
    RETURN NEW;
  END IF;
  IF TG_TABLE_NAME = 'plans_plan' THEN
    SELECT i.number INTO billed FROM plans_invoice i JOIN plans_plansubscription s
      ON s.tenant_id = i.tenant_id AND s.starts_at < i.ends_at
        AND (s.ends_at IS NULL OR s.ends_at > i.starts_at)
      WHERE s.plan_id = OLD.id AND i.number IS NOT NULL LIMIT 1;
  ELSE
    SELECT i.number INTO billed FROM plans_invoice i WHERE i.number IS NOT NULL AND
      i.manifest #> '{lived,seconds}' @>
        jsonb_build_array(jsonb_build_array(TG_ARGV[0], OLD.key, OLD.version)) LIMIT 1;
  END IF;
  IF FOUND THEN
    RAISE EXCEPTION 'version % of plan % priced invoice %: publish a catalog with the change',
      OLD.version, OLD.key, billed USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;
"""
PLAN_BACK = "DROP FUNCTION plans_plan_guard();"

# A row covers [starts_at, ends_at). ``billed`` compares the parts of two rows inside each period.
# An open row may end later than a billed period, but not at its very end: an invoice includes
# amounts for the rest of the month if the plan runs on.
SUBSCRIPTION = """
CREATE FUNCTION plans_subscription_in(s plans_plansubscription, i plans_invoice) RETURNS jsonb
LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN s.tenant_id = i.tenant_id AND s.starts_at < i.ends_at
      AND (s.ends_at IS NULL OR s.ends_at > i.starts_at)
    THEN jsonb_build_array(s.plan_id, greatest(s.starts_at, i.starts_at),
      least(coalesce(s.ends_at, 'infinity'), i.ends_at), s.ends_at IS NULL OR s.ends_at > i.ends_at)
    ELSE '[]' END
$$;
CREATE FUNCTION plans_subscription_guard() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  was plans_plansubscription := CASE TG_OP WHEN 'INSERT' THEN NULL ELSE OLD END;
  is_now plans_plansubscription := CASE TG_OP WHEN 'DELETE' THEN NULL ELSE NEW END;
  billed text;
BEGIN
  SELECT i.number INTO billed FROM plans_invoice i
    WHERE i.number IS NOT NULL AND i.tenant_id IN (was.tenant_id, is_now.tenant_id) AND
      plans_subscription_in(was, i) <> plans_subscription_in(is_now, i) LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'invoice % billed this subscription: it does not change in that period', billed
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;
CREATE TRIGGER plans_subscription_guard BEFORE INSERT OR UPDATE OR DELETE
  ON plans_plansubscription FOR EACH ROW EXECUTE FUNCTION plans_subscription_guard();
"""
SUBSCRIPTION_BACK = """
DROP TRIGGER plans_subscription_guard ON plans_plansubscription;
DROP FUNCTION plans_subscription_guard();
DROP FUNCTION plans_subscription_in(plans_plansubscription, plans_invoice);
"""


def _trigger(table: str, call: str) -> migrations.RunSQL:
    return migrations.RunSQL(
        f"CREATE TRIGGER {table}_guard BEFORE UPDATE OR DELETE ON {table} "
        f"FOR EACH ROW EXECUTE FUNCTION {call};",
        f"DROP TRIGGER {table}_guard ON {table};",
    )


class Migration(migrations.Migration):
    dependencies = [("plans", "0010_invoice_indexes"), ("core", "0002_audit_append_only")]
    operations = [
        migrations.AddField(
            "invoiceevent",
            "document_sha256",
            models.CharField(blank=True, db_default="", default="", max_length=64),
        ),
        migrations.RunSQL(PLAN, PLAN_BACK),
        *[_trigger(table, f"plans_plan_guard('{meter}')") for table, meter in PLANS.items()],
        _trigger("plans_catalogueversion", "core_refuse_change()"),
        migrations.RunSQL(SUBSCRIPTION, SUBSCRIPTION_BACK),
    ]
