"""Add when a source counted something last, and tell others when a quota restricts a space.

The auth service and the pages hear of new restrictions at once. Safe beside the previous version:
it leaves the new column null, and the tenants of its sources are then evaluated by their alerts.
"""

from django.db import migrations, models

AUTH = """
DROP TRIGGER waypost_notify_auth ON tenants_addressspace;
CREATE TRIGGER waypost_notify_auth AFTER INSERT OR DELETE
    OR UPDATE OF send_withdrawn, {}router_patches, deletion_requested_at, deleted_at
    ON tenants_addressspace FOR EACH ROW EXECUTE FUNCTION waypost_notify_auth_space();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0027_restrictions"),
        ("workers", "0009_lakehouse_runs"),
    ]

    operations = [
        migrations.AddField(
            model_name="meteredsource",
            name="moved_at",
            field=models.DateTimeField(db_index=True, null=True),
        ),
        migrations.RunSQL(AUTH.format("connections_refused, "), AUTH.format("")),
    ]
