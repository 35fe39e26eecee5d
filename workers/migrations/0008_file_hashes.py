"""Add the hashes of the files of bronze, which never change once recorded."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workers", "0007_notify_changes"), ("core", "0002_audit_append_only")]
    operations = [
        migrations.CreateModel(
            name="FileHash",
            fields=[
                ("path", models.CharField(max_length=300, primary_key=True, serialize=False)),
                ("sha256", models.CharField(max_length=64)),
            ],
        ),
        migrations.RunSQL(
            "CREATE TRIGGER workers_filehash_append_only BEFORE UPDATE ON workers_filehash "
            "FOR EACH ROW EXECUTE FUNCTION core_refuse_change();",
            "DROP TRIGGER workers_filehash_append_only ON workers_filehash;",
        ),
    ]
