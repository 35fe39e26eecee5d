"""Notify event streams of operations on stored messages, too."""

from django.db import migrations

INSTALL = """
CREATE OR REPLACE FUNCTION waypost_notify_operation() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE space text := CASE NEW.subject_type
    WHEN 'address_space' THEN NEW.subject_id
    WHEN 'address' THEN (SELECT space_id FROM tenants_address WHERE id = NEW.subject_id)
    WHEN 'messaging_user' THEN
        (SELECT space_id FROM tenants_messaginguser WHERE id = NEW.subject_id)
    WHEN 'message_request' THEN
        (SELECT space_id FROM tenants_messagerequest WHERE id = NEW.subject_id)
    END;
BEGIN
    IF space IS NOT NULL THEN
        PERFORM pg_notify('waypost_changes',
            json_build_object('space', space, 'kind', 'operations')::text);
    END IF;
    RETURN NULL;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0016_connection_rates"),
        ("workers", "0011_pipeline_page"),
    ]

    # Backward, the function may stay: the older code knows the kind ``operations``.
    operations = [migrations.RunSQL(INSTALL, migrations.RunSQL.noop)]
