"""Replace the text in ``waiting_for`` by the JSON field ``waiting``; add state of files and logins.

The column ``waiting_for`` stays in the database, because workers of the previous version write it
while an installation is upgraded.
"""

import re

from django.db import migrations, models
from django.db.models import F, Q

_INSTANCE = re.compile(r"(broker|router)-\d+")


def parse_words(words):
    """Return the value of ``waiting`` for the text of the former column ``waiting_for``.

    The text is ``<generation> <step> <reason> <instances>``. The name of a step may contain blanks.
    """
    generation, *rest = words.split()
    # The old column held 200 characters, so the name of the last instance may be cut.
    count = len(rest)
    while count > 2 and rest[count - 1].startswith(("broker-", "router-")):
        count -= 1
    *step, reason = rest[:count]
    return {
        "generation": int(generation),
        "step": " ".join(step),
        "reason": reason,
        "instances": [name for name in rest[count:] if _INSTANCE.fullmatch(name)],
        "partial": False,
    }


def keep_waits(apps, _schema_editor):
    spaces = apps.get_model("tenants", "AddressSpace").objects.exclude(waiting_for="")
    for space in spaces.iterator():
        space.waiting = parse_words(space.waiting_for)
        space.save(update_fields=["waiting"])


class Migration(migrations.Migration):
    dependencies = [("tenants", "0010_release_template_hash")]

    operations = [
        migrations.AddField("addressspace", "waiting", models.JSONField(null=True)),
        migrations.AddField(
            "addressspace",
            "files_outdated",
            models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField("addressspace", "files_built_at", models.DateTimeField(null=True)),
        migrations.AddField(
            "addressspace", "known_boots", models.JSONField(db_default={}, default=dict)
        ),
        migrations.AddField(
            "addressspace", "logins_generation", models.BigIntegerField(db_default=0, default=0)
        ),
        migrations.AddIndex(
            "address",
            models.Index(
                condition=Q(deleted_at__isnull=True, generation__gt=F("observed_generation")),
                fields=["space"],
                name="address_changed",
            ),
        ),
        migrations.RunPython(keep_waits, migrations.RunPython.noop),
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.RemoveField("addressspace", "waiting_for")]
        ),
    ]
