"""The WSGI application of the web server, as ``application``.

``controlplane.web`` imports this module before it forks its processes. The import loads whatever is
slow to load, so no request waits for that. It raises ``ImproperlyConfigured`` if a setting is
invalid or unsafe (``checks.refuse_unsafe_settings``).
"""

import os

from django.contrib.auth.password_validation import get_default_password_validators
from django.core.validators import validate_email
from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from controlplane import checks

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
application = get_wsgi_application()
checks.refuse_unsafe_settings()
_ = get_resolver().url_patterns  # imports every view
get_default_password_validators()  # loads a list of common passwords
validate_email("first@example.org")  # compiles patterns, which takes 50 ms
