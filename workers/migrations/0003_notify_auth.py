"""Tell the auth service at once when a user or a space changes (workers/services/auth/watcher.py)."""

from django.db import migrations

INSTALL = """
CREATE FUNCTION waypost_notify_auth_user() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('waypost_auth', COALESCE(NEW.space_id, OLD.space_id));
    RETURN NULL;
END $$;
CREATE FUNCTION waypost_notify_auth_space() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('waypost_auth', COALESCE(NEW.id, OLD.id));
    RETURN NULL;
END $$;
CREATE TRIGGER waypost_notify_auth AFTER INSERT OR DELETE
    OR UPDATE OF name, permissions, verifiers, deletion_requested_at, deleted_at
    ON tenants_messaginguser FOR EACH ROW EXECUTE FUNCTION waypost_notify_auth_user();
CREATE TRIGGER waypost_notify_auth AFTER INSERT OR DELETE
    OR UPDATE OF send_withdrawn, deletion_requested_at, deleted_at
    ON tenants_addressspace FOR EACH ROW EXECUTE FUNCTION waypost_notify_auth_space();
"""
REMOVE = """
DROP TRIGGER waypost_notify_auth ON tenants_addressspace;
DROP TRIGGER waypost_notify_auth ON tenants_messaginguser;
DROP FUNCTION waypost_notify_auth_space();
DROP FUNCTION waypost_notify_auth_user();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0001_initial"),
        ("workers", "0002_metering_lives_and_commits"),
    ]

    operations = [migrations.RunSQL(INSTALL, REMOVE)]
