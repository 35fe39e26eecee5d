"""The crowded database and its callers, for the parts of the bench."""

import sys
import time

from django.conf import settings
from django.core.management import call_command

from controlplane.core import enqueue
from controlplane.web.__main__ import keep_code
from tests.support.access import furnished
from tests.support.access.furnished import Furnished
from tests.support.crowd import seeding


def prepare() -> Furnished:
    """Migrate the empty database, fill it, and return the furnished tenant with its callers.

    Changes settings of this process: a cache without a server, and limits that nobody reaches.
    """
    settings.ALLOWED_HOSTS = ["*"]
    settings.CACHES["default"] = {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "bench",
    }
    for name in [name for name in dir(settings) if name.endswith("_RATE")]:
        setattr(settings, name, "1000000/min")
    settings.ACCOUNT_RATE_LIMITS = settings.MFA_RATE_LIMITS = False
    # No queue runs here, and the search for one takes seconds.
    enqueue._send = lambda *_: None
    call_command("migrate", verbosity=0)
    made = furnished.furnish()
    made.callers["owner"]("GET", "/", None)  # imports every view
    keep_code()  # as the web server does
    began = time.monotonic()
    seeding.grow(seeding.PROMISED)
    sys.stdout.write(f"seeded in {time.monotonic() - began:.0f} s\n")
    return made
