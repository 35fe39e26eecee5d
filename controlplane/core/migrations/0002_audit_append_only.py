"""Add a trigger to the table of audit events that refuses UPDATE and DELETE."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION core_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only: rows are never changed or deleted', TG_TABLE_NAME
    USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER core_auditevent_append_only BEFORE UPDATE OR DELETE ON core_auditevent
  FOR EACH ROW EXECUTE FUNCTION core_refuse_change();
"""
BACKWARD = """
DROP TRIGGER core_auditevent_append_only ON core_auditevent;
DROP FUNCTION core_refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [("core", "0001_initial")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
