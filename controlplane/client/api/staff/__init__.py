"""Operations of the API, a module each, which is imported when it is first named."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import (
        agree_on_commitment,
        approve_invoice,
        close_held_or_draft_invoice_again,
        close_tenant_running_period_now,
        confirm_domains_tenant,
        create_coupon,
        drop_override,
        get_catalog,
        get_discounts_and_credit_tenant,
        get_identity_provider_tenant,
        get_override,
        get_pipeline,
        get_rollout,
        get_tenant_staff,
        give_discount,
        grant_credit,
        issue_credit_note,
        issue_invoice,
        list_all_invoices,
        list_all_tenants,
        list_coupons,
        list_kept_volumes,
        list_lakehouse_runs,
        list_payments,
        list_quarantined_samples,
        list_rollouts,
        list_tenant_quotas,
        override_quota,
        publish_catalog,
        record_payment,
        release_kept_volumes,
        restore_tenant,
        set_identity_provider_tenant,
        steer_rollout,
        suspend_tenant,
        void_invoice,
        write_off_invoice,
    )

__all__ = (
    "get_catalog",
    "publish_catalog",
    "list_coupons",
    "create_coupon",
    "list_all_invoices",
    "approve_invoice",
    "close_held_or_draft_invoice_again",
    "issue_credit_note",
    "issue_invoice",
    "list_payments",
    "record_payment",
    "void_invoice",
    "write_off_invoice",
    "close_tenant_running_period_now",
    "list_kept_volumes",
    "release_kept_volumes",
    "get_pipeline",
    "list_quarantined_samples",
    "list_lakehouse_runs",
    "get_rollout",
    "steer_rollout",
    "list_rollouts",
    "list_all_tenants",
    "get_tenant_staff",
    "get_discounts_and_credit_tenant",
    "agree_on_commitment",
    "grant_credit",
    "give_discount",
    "get_identity_provider_tenant",
    "set_identity_provider_tenant",
    "confirm_domains_tenant",
    "list_tenant_quotas",
    "get_override",
    "override_quota",
    "drop_override",
    "restore_tenant",
    "suspend_tenant",
)

if not TYPE_CHECKING:  # so that a name that does not exist is an error of types

    def __getattr__(name: str) -> ModuleType:
        if name not in __all__:
            raise AttributeError(name)
        return import_module(f".{name}", __package__)
