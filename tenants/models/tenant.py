"""Models of people, tenants, memberships and API tokens."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q

from controlplane.core import ids
from controlplane.core.models import Timestamped


class Role(models.TextChoices):
    """The role of a member or API token in a tenant; ``tenants.permissions`` maps it to rights."""

    OWNER = "owner"
    ADMIN = "admin"
    DEVELOPER = "developer"
    BILLING = "billing"
    VIEWER = "viewer"


class User(AbstractUser):
    """A person's account. ``username`` equals the email in lower case.

    ``is_staff`` marks the operator's staff. A user who logs in through the installation's OpenID
    provider has ``oidc_subject`` (issuer#sub) and no usable password. A user who logs in through a
    tenant's own provider has a ``TenantIdentity``.
    """

    # Unique, which Django's own field is not: the email is the login.
    email = models.EmailField(unique=True)
    oidc_subject = models.CharField(max_length=400, unique=True, null=True, blank=True)


class UnpaidStage(models.TextChoices):
    """What unpaid invoices stop: nothing, sending, or also connections and most changes."""

    NONE = ""
    LIMITED = "limited"
    SUSPENDED = "suspended"


class Tenant(Timestamped):
    """One paying customer. ``slug`` is unique and is the tenant's name in URLs.

    The billing details (``billing_…``, ``tax_id``) may be completed later; until then the tenant's
    invoices are held. While ``suspended_at`` is set, clients cannot send and members can change
    little (``tenants.permissions.is_changeable``); ``suspension_reason`` says why. The same holds
    while ``erase_at`` is set, because an owner has requested to close the tenant: the erasure
    begins at ``erase_at`` and has ended at ``erased_at``. ``unpaid_stage`` is what unpaid invoices
    stop. Only dunning sets it, and it is independent of ``suspended_at``.
    """

    id = models.CharField(primary_key=True, max_length=40, default=ids.tenant_id)
    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=63, unique=True)
    billing_name = models.CharField(max_length=200, blank=True)
    billing_email = models.EmailField(blank=True)
    billing_address = models.TextField(blank=True)
    billing_country = models.CharField(max_length=2, blank=True)
    tax_id = models.CharField(max_length=60, blank=True)
    # What a check of the tax id's form found, a value of ``plans.rating.vat_ids.Status``.
    tax_id_status = models.CharField(max_length=20, blank=True, default="", db_default="")
    # Decides where a billing month begins (docs/billing.md, rule 1).
    billing_time_zone = models.CharField(max_length=60, default="UTC")
    suspended_at = models.DateTimeField(null=True)
    suspension_reason = models.CharField(max_length=300, blank=True, default="", db_default="")
    unpaid_stage = models.CharField(
        max_length=10, choices=UnpaidStage.choices, blank=True, default="", db_default=""
    )
    erase_at = models.DateTimeField(null=True)
    erased_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            # The few tenants for which unpaid invoices stop something.
            models.Index(
                fields=["unpaid_stage"], name="tenant_unpaid", condition=~Q(unpaid_stage="")
            ),
        ]

    @property
    def suspension_sentence(self) -> str:
        """``suspension_reason`` with a full stop, for texts that go on after it."""
        reason = self.suspension_reason
        return reason if not reason or reason.endswith((".", "!", "?")) else f"{reason}."

    @property
    def is_frozen(self) -> bool:
        """Whether the tenant is suspended, by staff or for unpaid invoices, or being closed."""
        is_suspended = self.suspended_at is not None or self.unpaid_stage == UnpaidStage.SUSPENDED
        return is_suspended or self.erase_at is not None


class Membership(Timestamped):
    """The row that makes a person a member of a tenant, with a role. Key: (tenant, user).

    ``from_group`` is the group at the identity provider that gave the role; empty: a person did.
    """

    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=12, choices=Role.choices)
    from_group = models.CharField(max_length=200, blank=True, default="", db_default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "user"], name="membership_once"),
            models.CheckConstraint(name="membership_role_known", condition=Q(role__in=Role.values)),
        ]


class Invitation(Timestamped):
    """An invitation by mail to become a member of a tenant. Only the hash of its link is stored.

    It can be accepted once, until ``expires_at``, unless ``revoked_at`` is set. Sending it again
    replaces the link. ``email`` is in lower case; it need not have an account.
    """

    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="invitations")
    email = models.EmailField(max_length=150)
    role = models.CharField(max_length=12, choices=Role.choices)
    token_hash = models.CharField(max_length=64, unique=True)
    invited_by = models.CharField(max_length=255)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "email"],
                condition=Q(accepted_at__isnull=True, revoked_at__isnull=True),
                name="invitation_once",
            ),
            models.CheckConstraint(name="invitation_role_known", condition=Q(role__in=Role.values)),
        ]


class ApiToken(Timestamped):
    """A bearer token for programs, bound to one tenant and one role. Only its hash is stored.

    The token is valid until ``expires_at`` (null: without end), unless ``revoked_at`` is set.
    ``last_used_at`` is at most a minute behind. ``spaces`` and ``permissions`` limit the token
    further: it sees only spaces with these names, and does only what these permissions of its role
    allow. An empty list does not limit.
    """

    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="api_tokens")
    name = models.CharField(max_length=100)
    role = models.CharField(max_length=12, choices=Role.choices)
    prefix = models.CharField(max_length=12)  # shown in lists to recognize the token
    # Unique for its index: every request of the API looks a token up by its hash.
    token_hash = models.CharField(max_length=64, unique=True)
    created_by = models.CharField(max_length=255)
    expires_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    spaces = models.JSONField(default=list, db_default=[])
    permissions = models.JSONField(default=list, db_default=[])

    class Meta:
        indexes = [
            models.Index(
                fields=["expires_at"],
                condition=Q(revoked_at__isnull=True, expires_at__isnull=False),
                name="api_token_expires",
            )
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "name"],
                # A revoked token keeps its row for the audit, but another one may have its name.
                condition=Q(revoked_at__isnull=True),
                name="api_token_name_once",
            )
        ]
