"""The WSGI entry point. Everything is imported before the server forks: no first request waits."""

import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from controlplane import checks

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
application = get_wsgi_application()
checks.refuse_source_keys()
_ = get_resolver().url_patterns
