"""Accounts that exist before the confirmation of email addresses count as confirmed."""

from django.db import migrations


def confirm(apps, schema_editor):
    User = apps.get_model("tenants", "User")
    EmailAddress = apps.get_model("account", "EmailAddress")
    known = EmailAddress.objects.values("user_id")
    EmailAddress.objects.bulk_create(
        (
            EmailAddress(user_id=pk, email=email.lower(), verified=True, primary=True)
            for pk, email in User.objects.exclude(pk__in=known)
            .exclude(email="")
            .values_list("pk", "email")
        ),
        batch_size=500,
        ignore_conflicts=True,
    )


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0017_labels"),
        ("account", "0009_emailaddress_unique_primary_email"),
    ]

    operations = [migrations.RunPython(confirm, migrations.RunPython.noop)]
