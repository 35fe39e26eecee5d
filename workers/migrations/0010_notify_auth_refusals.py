"""Tell the auth service at once when a space refuses connections, or takes them again."""

from django.db import migrations

INSTALL = """
DROP TRIGGER waypost_notify_auth ON tenants_addressspace;
CREATE TRIGGER waypost_notify_auth AFTER INSERT OR DELETE
    OR UPDATE OF send_withdrawn, connections_refused, router_patches, deletion_requested_at,
      deleted_at
    ON tenants_addressspace FOR EACH ROW EXECUTE FUNCTION waypost_notify_auth_space();
"""
REMOVE = """
DROP TRIGGER waypost_notify_auth ON tenants_addressspace;
CREATE TRIGGER waypost_notify_auth AFTER INSERT OR DELETE
    OR UPDATE OF send_withdrawn, router_patches, deletion_requested_at, deleted_at
    ON tenants_addressspace FOR EACH ROW EXECUTE FUNCTION waypost_notify_auth_space();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0027_unpaid_invoices"),
        ("workers", "0009_lakehouse_runs"),
    ]

    operations = [migrations.RunSQL(INSTALL, REMOVE)]
