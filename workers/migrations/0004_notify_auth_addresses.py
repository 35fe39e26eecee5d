"""Tell the auth service of new and leaving addresses as well: it grants addresses, not patterns."""

from django.db import migrations

INSTALL = """
CREATE TRIGGER waypost_notify_auth AFTER INSERT OR DELETE
    OR UPDATE OF address, deletion_requested_at, deleted_at
    ON tenants_address FOR EACH ROW EXECUTE FUNCTION waypost_notify_auth_user();
"""
REMOVE = "DROP TRIGGER waypost_notify_auth ON tenants_address;"


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0001_initial"),
        ("workers", "0003_notify_auth"),
    ]

    operations = [migrations.RunSQL(INSTALL, REMOVE)]
