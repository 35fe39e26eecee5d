"""Tell the auth service what the routers of a space can relay: which logins it may offer."""

from django.db import migrations

INSTALL = """
DROP TRIGGER waypost_notify_auth ON tenants_addressspace;
CREATE TRIGGER waypost_notify_auth AFTER INSERT OR DELETE
    OR UPDATE OF send_withdrawn, router_patches, deletion_requested_at, deleted_at
    ON tenants_addressspace FOR EACH ROW EXECUTE FUNCTION waypost_notify_auth_space();
"""
REMOVE = """
DROP TRIGGER waypost_notify_auth ON tenants_addressspace;
CREATE TRIGGER waypost_notify_auth AFTER INSERT OR DELETE
    OR UPDATE OF send_withdrawn, deletion_requested_at, deleted_at
    ON tenants_addressspace FOR EACH ROW EXECUTE FUNCTION waypost_notify_auth_space();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0009_router_patches"),
        ("workers", "0005_planned_restarts"),
    ]

    operations = [migrations.RunSQL(INSTALL, REMOVE)]
