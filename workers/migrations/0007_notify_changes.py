"""Tell the web servers when what a page shows of a space changes (controlplane/web/changes.py)."""

from django.db import migrations

# One notice for each space and statement, however many rows it changed. PostgreSQL drops equal
# notices of one transaction. Leases and times of passes are not compared: they change all the time.
INSTALL = """
CREATE FUNCTION waypost_notify_space() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('waypost_changes', json_build_object('space', NEW.id, 'kind', 'space',
        'phase', NEW.phase, 'generation', NEW.generation,
        'observed_generation', NEW.observed_generation)::text);
    RETURN NULL;
END $$;
CREATE TRIGGER waypost_notify_changes AFTER UPDATE
    OF phase, generation, observed_generation, conditions, deleted_at, send_withdrawn, name
    ON tenants_addressspace FOR EACH ROW
    WHEN ((OLD.phase, OLD.generation, OLD.observed_generation, OLD.conditions, OLD.deleted_at,
           OLD.send_withdrawn, OLD.name) IS DISTINCT FROM
          (NEW.phase, NEW.generation, NEW.observed_generation, NEW.conditions, NEW.deleted_at,
           NEW.send_withdrawn, NEW.name))
    EXECUTE FUNCTION waypost_notify_space();

CREATE FUNCTION waypost_notify_part_new() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('waypost_changes',
        json_build_object('space', part.space_id, 'kind', TG_ARGV[0])::text)
        FROM (SELECT DISTINCT space_id FROM new_rows) AS part;
    RETURN NULL;
END $$;
CREATE FUNCTION waypost_notify_part_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('waypost_changes',
        json_build_object('space', part.space_id, 'kind', TG_ARGV[0])::text)
        FROM (
            SELECT DISTINCT new_rows.space_id FROM new_rows JOIN old_rows USING (id)
            WHERE (new_rows.phase, new_rows.generation, new_rows.observed_generation,
                   new_rows.conditions, new_rows.deleted_at) IS DISTINCT FROM
                  (old_rows.phase, old_rows.generation, old_rows.observed_generation,
                   old_rows.conditions, old_rows.deleted_at)
        ) AS part;
    RETURN NULL;
END $$;
CREATE TRIGGER waypost_notify_new AFTER INSERT ON tenants_address
    REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION waypost_notify_part_new('addresses');
CREATE TRIGGER waypost_notify_changes AFTER UPDATE ON tenants_address
    REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION waypost_notify_part_changed('addresses');
CREATE TRIGGER waypost_notify_new AFTER INSERT ON tenants_messaginguser
    REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION waypost_notify_part_new('users');
CREATE TRIGGER waypost_notify_changes AFTER UPDATE ON tenants_messaginguser
    REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION waypost_notify_part_changed('users');

CREATE FUNCTION waypost_notify_operation() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE space text := CASE NEW.subject_type
    WHEN 'address_space' THEN NEW.subject_id
    WHEN 'address' THEN (SELECT space_id FROM tenants_address WHERE id = NEW.subject_id)
    WHEN 'messaging_user' THEN
        (SELECT space_id FROM tenants_messaginguser WHERE id = NEW.subject_id)
    END;
BEGIN
    IF space IS NOT NULL THEN
        PERFORM pg_notify('waypost_changes',
            json_build_object('space', space, 'kind', 'operations')::text);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER waypost_notify_new AFTER INSERT ON core_operation
    FOR EACH ROW EXECUTE FUNCTION waypost_notify_operation();
CREATE TRIGGER waypost_notify_changes AFTER UPDATE OF state, steps ON core_operation FOR EACH ROW
    WHEN ((OLD.state, OLD.steps) IS DISTINCT FROM (NEW.state, NEW.steps))
    EXECUTE FUNCTION waypost_notify_operation();
"""
REMOVE = """
DROP TRIGGER waypost_notify_changes ON core_operation;
DROP TRIGGER waypost_notify_new ON core_operation;
DROP FUNCTION waypost_notify_operation();
DROP TRIGGER waypost_notify_changes ON tenants_messaginguser;
DROP TRIGGER waypost_notify_new ON tenants_messaginguser;
DROP TRIGGER waypost_notify_changes ON tenants_address;
DROP TRIGGER waypost_notify_new ON tenants_address;
DROP FUNCTION waypost_notify_part_changed();
DROP FUNCTION waypost_notify_part_new();
DROP TRIGGER waypost_notify_changes ON tenants_addressspace;
DROP FUNCTION waypost_notify_space();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("core", "0002_audit_append_only"),
        ("tenants", "0011_waiting_state"),
        ("workers", "0006_notify_auth_patches"),
    ]

    operations = [migrations.RunSQL(INSTALL, REMOVE)]
