"""Django's settings. What operators may choose is read from ``WAYPOST_*`` environment variables.

The variables are read once, when this module is imported. An invalid value raises
``ImproperlyConfigured``, so no process starts with it. `waypost up` passes the variables to the
servers of an embedded installation; in a cluster the Helm chart sets them.
"""

from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from controlplane.core import logs, outgoing_settings, payment_settings, rest_settings
from controlplane.core.environment import (
    comma_separated,
    database,
    flag,
    group_roles,
    lakehouse,
    level,
    number,
    positive,
    rate,
    secret,
    text,
)

BASE_DIR = Path(__file__).resolve().parent.parent
DEBUG = flag("WAYPOST_DEBUG", False)
SECRET_KEY = text("WAYPOST_SECRET_KEY", "only-for-building-and-tests")
# Fernet keys, newest first (core.secrets). Everyone knows the default, so servers refuse to start
# with it unless DEBUG is on (``checks.refuse_unsafe_settings``).
SECRET_KEYS = comma_separated("WAYPOST_SECRET_KEYS", "dGVzdC1rZXktb25seS1mb3ItdW5pdC10ZXN0cy0wMDA=")
ALLOWED_HOSTS = comma_separated("WAYPOST_ALLOWED_HOSTS", "127.0.0.1,localhost,testserver")
CSRF_TRUSTED_ORIGINS = comma_separated("WAYPOST_CSRF_TRUSTED_ORIGINS", "")
PUBLIC_URL = text("WAYPOST_PUBLIC_URL", "http://127.0.0.1:8000")

# The state folder of an embedded installation. In a cluster: the volume of the lakehouse if there
# is no object store, the auth service's snapshot, and scratch files of each pod.
STATE_DIR = Path(text("WAYPOST_STATE_DIR", str(BASE_DIR / ".waypost"))).absolute()
# A folder, or s3://bucket/prefix in an S3-compatible object store. Only workers access it.
LAKEHOUSE_ROOT = lakehouse(text("WAYPOST_LAKEHOUSE_ROOT", str(STATE_DIR / "lakehouse")))
LAKEHOUSE_ENDPOINT = text("WAYPOST_LAKEHOUSE_ENDPOINT")  # empty: Amazon S3 in the region
LAKEHOUSE_REGION = text("WAYPOST_LAKEHOUSE_REGION", "us-east-1")
LAKEHOUSE_ACCESS_KEY = secret("WAYPOST_LAKEHOUSE_ACCESS_KEY")
LAKEHOUSE_SECRET_KEY = secret("WAYPOST_LAKEHOUSE_SECRET_KEY")
if LAKEHOUSE_ROOT.startswith("s3://") and not (LAKEHOUSE_ACCESS_KEY and LAKEHOUSE_SECRET_KEY):
    raise ImproperlyConfigured(
        "WAYPOST_LAKEHOUSE_ROOT names an object store: WAYPOST_LAKEHOUSE_ACCESS_KEY and "
        "WAYPOST_LAKEHOUSE_SECRET_KEY (or the same with _FILE) are needed"
    )
INFRA = text("WAYPOST_INFRA", "local")  # local | kubernetes
CLUSTER_FILE = text("WAYPOST_CLUSTER_FILE", "/etc/waypost/cluster.yaml")  # kubernetes only
# Whether this process watches the pods of all spaces, if no other one does. For one sort of worker
# only: its account needs the right to do so (`rights.watchPods`).
WATCH_PODS = flag("WAYPOST_WATCH_PODS", False)
SUPERVISOR_SOCKET = text("WAYPOST_SUPERVISOR_SOCKET", str(STATE_DIR / "run" / "supervisor.sock"))
ARTEMIS_HOME = text("WAYPOST_ARTEMIS_HOME")
# Whether spaces of type standard can be created. The chart sets false without a router image.
STANDARD_SPACES_OFFERED = flag("WAYPOST_STANDARD_SPACES_OFFERED", True)
# The placement profiles that space plans may name, and the size in GiB of the volume of a broker
# whose plan names none. The chart sets both from the values that `CLUSTER_FILE` has too.
PLACEMENTS = tuple(text("WAYPOST_PLACEMENTS").split())
SPACE_STORAGE_GB = number("WAYPOST_SPACE_STORAGE_GB", 5)
ROUTER_BINARY = text("WAYPOST_ROUTER_BINARY")  # empty: the development router
# The address of the auth service, which routers ask about logins.
AUTH_SERVICE_HOST = text("WAYPOST_AUTH_SERVICE_HOST", "127.0.0.1")
AUTH_SERVICE_PORT = number("WAYPOST_AUTH_SERVICE_PORT", 5671)
# The control authority. It signs the certificates with which routers and the auth service
# authenticate each other. A router's certificate names its space, and the auth service lets it ask
# about logins of this space only.
CONTROL_CA_DIR = Path(text("WAYPOST_CONTROL_CA_DIR", str(STATE_DIR / "control-ca")))

SIGNUP_ENABLED = flag("WAYPOST_SIGNUP_ENABLED", True)  # false: nobody can sign up
LOCAL_ACCOUNTS_ENABLED = flag("WAYPOST_LOCAL_ACCOUNTS_ENABLED", True)
# Limits of signup and login attempts. SIGNUP_RATE and LOGIN_RATE are for each network address,
# ACCOUNT_RATE is for each email address, of logins from one network address. ACCOUNT_FAILURE_RATE
# is for failed logins to one account from all network addresses together.
SIGNUP_RATE = rate("WAYPOST_SIGNUP_RATE", "20/min")
LOGIN_RATE = rate("WAYPOST_LOGIN_RATE", "20/min")
ACCOUNT_RATE = rate("WAYPOST_ACCOUNT_RATE", "10/min")
# Limits of the API: for each token or person (without a login: each network address), and for all
# callers of a tenant together.
API_CALLER_RATE = rate("WAYPOST_API_CALLER_RATE", "1200/min")
API_TENANT_RATE = rate("WAYPOST_API_TENANT_RATE", "6000/min")
ACCOUNT_FAILURE_RATE = rate("WAYPOST_ACCOUNT_FAILURE_RATE", "100/hour")
# Whether a new local account works only after its email address is confirmed. By default it does
# where an SMTP server delivers mail.
EMAIL_CONFIRMATION = flag("WAYPOST_EMAIL_CONFIRMATION", bool(text("WAYPOST_SMTP_HOST")))
# Passwords from known breaches are refused. Empty: off. An https:// URL: that of a range service,
# which gets the first 5 of 40 digits of a SHA-1 hash. Else a file: one SHA-1 hash a line, sorted.
BREACHED_PASSWORDS = text("WAYPOST_BREACHED_PASSWORDS")
# A session of the portal ends when it is unused for IDLE hours, and LONGEST days after its login.
SESSION_IDLE_HOURS = positive(
    "WAYPOST_SESSION_IDLE_HOURS", 12, "with 0, every login would end at once."
)
SESSION_LONGEST_DAYS = positive(
    "WAYPOST_SESSION_LONGEST_DAYS", 7, "with 0, every login would end at once."
)
# How many days after a request to close a tenant it is erased. Until then this can be undone.
TENANT_ERASE_DAYS = number("WAYPOST_TENANT_ERASE_DAYS", 30)
# The number of proxies in front of the web server that append to X-Forwarded-For; 0: the header is
# ignored.
TRUSTED_PROXIES = number("WAYPOST_TRUSTED_PROXIES", 0)
METRICS_TOKEN = text("WAYPOST_METRICS_TOKEN")  # empty: /metrics is closed
# The web server: its processes, and the threads of each one. A thread has at most one connection to
# the database, and each process one more for event streams.
_SERVE = "with 0, nothing serves requests."
WEB_PROCESSES = positive("WAYPOST_WEB_PROCESSES", 2, _SERVE)
WEB_THREADS = positive("WAYPOST_WEB_THREADS", 4, _SERVE)
# The most open connections from one network address to one process; 0: no limit. Behind proxies
# (TRUSTED_PROXIES) all connections come from them, so there is no limit then.
WEB_SOURCE_CONNECTIONS = number("WAYPOST_WEB_SOURCE_CONNECTIONS", 500)
# How often an open event stream checks that its caller may still read the space.
_PAUSELESS = "with 0, event streams would check without a pause."
EVENT_RECHECK_SECONDS = positive("WAYPOST_EVENT_RECHECK_SECONDS", 30, _PAUSELESS)
# A rollout changes at most WAVE ready spaces at once. It stops by itself when BUDGET spaces have
# failed. A space has failed if it is not ready ROLLOUT_PATIENCE_SECONDS after its change.
_PAUSE = "to stop rollouts, pause them (`waypost rollouts pause`)."
ROLLOUT_WAVE = positive("WAYPOST_ROLLOUT_WAVE", 5, _PAUSE)
# The size of the wave until the first space runs the release, which shows whether it starts.
ROLLOUT_FIRST_WAVE = positive("WAYPOST_ROLLOUT_FIRST_WAVE", 1, _PAUSE)
ROLLOUT_BUDGET = positive("WAYPOST_ROLLOUT_BUDGET", 1, _PAUSE)
# Rises with each `helm upgrade`, because the chart sets it. While workers of two versions run
# during an upgrade, those with the lower revision start no rollouts. 0: not used.
REVISION = number("WAYPOST_REVISION", 0)
ROLLOUT_PATIENCE_SECONDS = number("WAYPOST_ROLLOUT_PATIENCE_SECONDS", 900)
SAMPLE_SECONDS = number("WAYPOST_SAMPLE_SECONDS", 10)  # between two samples of an instance
# Into how many tasks a sampling cycle is divided, so that several metering workers share it.
SAMPLE_SHARDS = number("WAYPOST_SAMPLE_SHARDS", 1)
LANDING_SECONDS = number("WAYPOST_LANDING_SECONDS", 60)  # between two batches of landing files
PIPELINE_SECONDS = number("WAYPOST_PIPELINE_SECONDS", 300)  # between two runs of the usage pipeline
# A run of the usage pipeline (Spark): its threads, the memory of its container (half of it is the
# Java heap), its time limit, and whether to optimize for millions of samples instead of few.
_RUN = "with 0, the usage pipeline cannot run."
PIPELINE_THREADS = positive("WAYPOST_PIPELINE_THREADS", 2, _RUN)
PIPELINE_CONTAINER_MB = positive("WAYPOST_PIPELINE_CONTAINER_MB", 2048, _RUN)
PIPELINE_TIMEOUT_SECONDS = positive("WAYPOST_PIPELINE_TIMEOUT_SECONDS", 500, _RUN)
PIPELINE_BULK = flag("WAYPOST_PIPELINE_BULK", False)
# After the end of a month, for usage that arrives late.
CLOSE_GRACE_HOURS = number("WAYPOST_CLOSE_GRACE_HOURS", 72)
CATALOG_NOTICE_DAYS = number("WAYPOST_CATALOG_NOTICE_DAYS", 14)  # before a new version of a plan

# Mails. Without an SMTP server they go to the mailbox in the database, which operators read in the
# portal.
EMAIL_HOST = text("WAYPOST_SMTP_HOST")
_SMTP = "django.core.mail.backends.smtp.EmailBackend"
EMAIL_BACKEND = _SMTP if EMAIL_HOST else "tenants.notifications.mailbox.MailboxBackend"
EMAIL_PORT = number("WAYPOST_SMTP_PORT", 587)
_SMTP_SECURITY = outgoing_settings.mail_security(text("WAYPOST_SMTP_SECURITY", "starttls"))
EMAIL_USE_TLS, EMAIL_USE_SSL = _SMTP_SECURITY == "starttls", _SMTP_SECURITY == "tls"
EMAIL_HOST_USER = text("WAYPOST_SMTP_USER")
EMAIL_HOST_PASSWORD = secret("WAYPOST_SMTP_PASSWORD")
EMAIL_TIMEOUT = 10  # seconds for each answer of the server
DEFAULT_FROM_EMAIL = SERVER_EMAIL = text("WAYPOST_MAIL_FROM", "waypost@localhost")
outgoing_settings.check_mail(EMAIL_HOST, text("WAYPOST_MAIL_FROM"), EMAIL_HOST_USER, _SMTP_SECURITY)
# Ranges of private addresses to which webhooks may go all the same, over plain http too. Only for
# tests and installations on one machine: tenants choose the addresses.
_RANGES = comma_separated("WAYPOST_WEBHOOK_ALLOWED_RANGES", "")
WEBHOOK_ALLOWED_RANGES = outgoing_settings.allowed_ranges(_RANGES)

# How tenants pay. ``manual`` (or empty): staff record payments. ``webhook``: on a page of the
# operator, whose system reports payments by signed webhooks. ``stripe``: Stripe's checkout.
PAYMENT_PROVIDER = text("WAYPOST_PAYMENT_PROVIDER") or "manual"
PAYMENT_PAGE = text("WAYPOST_PAYMENT_PAGE")
# What invoices' pages say about paying by transfer, such as the bank account.
PAYMENT_INSTRUCTIONS = text("WAYPOST_PAYMENT_INSTRUCTIONS")
# Secrets of the Standard Webhooks scheme, ``whsec_…``, newest first, separated by commas.
PAYMENT_WEBHOOK_SECRET = secret("WAYPOST_PAYMENT_WEBHOOK_SECRET")
STRIPE_KEY = secret("WAYPOST_STRIPE_KEY")
STRIPE_WEBHOOK_SECRET = secret("WAYPOST_STRIPE_WEBHOOK_SECRET")
STRIPE_API = text("WAYPOST_STRIPE_API")  # empty: Stripe's own; another one is for tests
payment_settings.check_provider(
    PAYMENT_PROVIDER, PAYMENT_PAGE, PAYMENT_WEBHOOK_SECRET, (STRIPE_KEY, STRIPE_WEBHOOK_SECRET)
)
# Deliveries of events, for each network address.
PAYMENT_EVENT_RATE = rate("WAYPOST_PAYMENT_EVENT_RATE", "600/min")
# Dunning. REMINDER_DAYS: on which days after the due time reminders are sent (empty: no dunning).
# LIMIT_DAYS, SUSPEND_DAYS: when sending stops, and when connections are refused (0: never). Both
# wait until NOTICE_DAYS have passed since the tenant's notice.
DUNNING_REMINDER_DAYS = payment_settings.reminder_days(
    comma_separated("WAYPOST_DUNNING_REMINDER_DAYS", "")
)
DUNNING_LIMIT_DAYS = number("WAYPOST_DUNNING_LIMIT_DAYS", 0)
DUNNING_SUSPEND_DAYS = number("WAYPOST_DUNNING_SUSPEND_DAYS", 0)
DUNNING_NOTICE_DAYS = positive(
    "WAYPOST_DUNNING_NOTICE_DAYS", 7, "tenants are told before anything happens."
)
payment_settings.check_dunning(DUNNING_REMINDER_DAYS, DUNNING_LIMIT_DAYS, DUNNING_SUSPEND_DAYS)

ROOT_URLCONF = "controlplane.urls"
WSGI_APPLICATION = "controlplane.wsgi.application"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "controlplane.apps.WiringConfig",
    "controlplane.core",
    "controlplane.console",
    # After the console, whose templates of the same names replace those of these apps.
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "controlplane.accounts",
    "django.contrib.humanize",
    "tenants",
    "tenants.notifications",
    "plans",
    "workers",
]
MIDDLEWARE = [
    "controlplane.core.request_ids.RequestIdMiddleware",
    "controlplane.core.request_metrics.RequestMetricsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "controlplane.accounts.session_limits.SessionLimitsMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "controlplane.accounts.known_browsers.KnownBrowserMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "controlplane.console.security.PageHeadersMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "controlplane.console.account_scope.fill",
            ]
        },
    }
]
DATABASES = {
    "default": database(
        text("WAYPOST_DATABASE_URL", "postgresql://waypost:waypost@127.0.0.1:5432/waypost")
    )
}
AUTH_USER_MODEL = "tenants.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "controlplane.organization_oidc.OrganizationBackend",
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "controlplane.accounts.breached_passwords.BreachedPasswordValidator"},
]
LOGIN_URL = "console:login"
LOGIN_REDIRECT_URL = "console:home"
SIGNUP_URL = "console:signup"
LOGOUT_REDIRECT_URL = "console:login"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_AGE = SESSION_LONGEST_DAYS * 24 * 3600  # seconds
# Not every browser sends Secure cookies to http://localhost, so only https sets the flag.
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PUBLIC_URL.startswith("https://")
SECURE_CONTENT_TYPE_NOSNIFF = True
# With an https PUBLIC_URL, browsers refuse plain http for this long; 0: the header is not sent.
HSTS_SECONDS = number("WAYPOST_HSTS_SECONDS", 31536000)
X_FRAME_OPTIONS = "DENY"

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en-us"
# The docs site, as `make docs` or the image's build wrote it. It need not exist.
DOCS_ROOT = Path(text("WAYPOST_DOCS_ROOT", str(BASE_DIR / "build" / "docs")))
STATIC_URL = "/static/"
STATIC_ROOT = STATE_DIR / "static"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = text("WAYPOST_REDIS_URL", "redis://127.0.0.1:6379/0")
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        # Requests count in the cache (core.throttling): they must not wait for a Redis that hangs.
        "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1},
    }
}

# Local accounts (django-allauth). `controlplane.accounts` adapts the library to Waypost.
FORM_RENDERER = "controlplane.console.forms.base.ConsoleRenderer"
ACCOUNT_ADAPTER = "controlplane.accounts.adapter.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if EMAIL_CONFIRMATION else "optional"
ACCOUNT_EMAIL_CONFIRMATION_EXPIRE_DAYS = 3
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_EMAIL_NOTIFICATIONS = True  # a changed password or second factor is reported by mail
ACCOUNT_CHANGE_EMAIL = True  # an account has one address
ACCOUNT_LOGIN_ON_EMAIL_CONFIRMATION = True  # only in the browser that signed up
ACCOUNT_LOGIN_ON_PASSWORD_RESET = True
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_LOGOUT_ON_GET = False
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https" if PUBLIC_URL.startswith("https://") else "http"
# `core.throttling` limits logins and signups; the library's other limits stay.
ACCOUNT_RATE_LIMITS = {"login": None, "signup": None}
MFA_ADAPTER = "controlplane.accounts.adapter.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "Waypost"
MFA_TOTP_TOLERANCE = 1  # periods of 30 s, for clocks that are off
# Without the confirmation of addresses, nobody could confirm one before adding a factor.
MFA_ALLOW_UNVERIFIED_EMAIL = not EMAIL_CONFIRMATION
# Browsers allow passkeys over http on localhost only.
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = PUBLIC_URL.startswith("http://")
USERSESSIONS_TRACK_ACTIVITY = False  # it would write to the database at each request

# OpenID login (controlplane/oidc.py) is on when an issuer is set. Endpoints are optional: Waypost
# finds them by the issuer (controlplane/accounts/provider_discovery.py).
OIDC_ISSUER = text("WAYPOST_OIDC_ISSUER")
OIDC_RP_CLIENT_ID = text("WAYPOST_OIDC_CLIENT_ID")
OIDC_RP_CLIENT_SECRET = text("WAYPOST_OIDC_CLIENT_SECRET")
# The public client of `waypost login --device` at the same provider; empty: no such login.
OIDC_DEVICE_CLIENT_ID = text("WAYPOST_OIDC_DEVICE_CLIENT_ID")
OIDC_OP_AUTHORIZATION_ENDPOINT = text("WAYPOST_OIDC_AUTHORIZATION_ENDPOINT")
OIDC_OP_TOKEN_ENDPOINT = text("WAYPOST_OIDC_TOKEN_ENDPOINT")
OIDC_OP_USER_ENDPOINT = text("WAYPOST_OIDC_USER_ENDPOINT")
OIDC_OP_JWKS_ENDPOINT = text("WAYPOST_OIDC_JWKS_ENDPOINT")
OIDC_OP_LOGOUT_ENDPOINT = text("WAYPOST_OIDC_LOGOUT_ENDPOINT")
OIDC_RP_SIGN_ALGO = text("WAYPOST_OIDC_SIGN_ALGORITHM", "RS256")
OIDC_RP_SCOPES = "openid email profile"
# Groups at the provider: the claim that names them, the group of the operator's staff (empty: the
# provider does not decide who is staff), and the roles that groups have in tenants.
OIDC_GROUPS_CLAIM = text("WAYPOST_OIDC_GROUPS_CLAIM", "groups")
OIDC_STAFF_GROUP = text("WAYPOST_OIDC_STAFF_GROUP")
OIDC_GROUP_ROLES = group_roles("WAYPOST_OIDC_GROUP_ROLES")
# Whether organizations may bring identity providers of their own.
ORGANIZATION_LOGIN_ENABLED = flag("WAYPOST_ORGANIZATION_LOGIN", True)
OIDC_USE_PKCE = True
OIDC_PKCE_CODE_CHALLENGE_METHOD = "S256"
OIDC_TIMEOUT = 10  # seconds for each call to the provider
OIDC_STORE_ID_TOKEN = True  # to end the provider's session at logout
OIDC_AUTHENTICATE_CLASS = "controlplane.oidc.AuthenticateView"
OIDC_CALLBACK_CLASS = "controlplane.oidc.CallbackView"
OIDC_OP_LOGOUT_URL_METHOD = "controlplane.oidc.logout_url"
if OIDC_ISSUER:
    INSTALLED_APPS.append("mozilla_django_oidc")
    AUTHENTICATION_BACKENDS.insert(0, "controlplane.oidc.OidcBackend")

REST_FRAMEWORK = rest_settings.REST_FRAMEWORK
SPECTACULAR_SETTINGS = rest_settings.SPECTACULAR_SETTINGS

# Celery has its own option for the level: the chart sets both from one value.
LOG_LEVEL = level("WAYPOST_LOG_LEVEL", "INFO")
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "filters": {"outages": {"()": "controlplane.core.outages.OneLineForOutages"}},
    "loggers": {
        # Proton logs two lines for each connection, and workers open many.
        "proton": {"level": "WARNING"},
        # The logger to which Celery reports failed tasks.
        "celery.app.trace": {"filters": ["outages"]},
    },
}
logs.configure(level=LOG_LEVEL, readable=DEBUG)
