"""The models of what the API takes and answers.

A model is imported when it is first named: all of them take a fifth of a second.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .accept_request import AcceptRequest
    from .account_codes import AccountCodes
    from .account_codes_codes import AccountCodesCodes
    from .account_codes_request import AccountCodesRequest
    from .account_codes_request_codes import AccountCodesRequestCodes
    from .address import Address
    from .address_create_request import AddressCreateRequest
    from .address_create_request_labels import AddressCreateRequestLabels
    from .address_labels import AddressLabels
    from .address_offer import AddressOffer
    from .address_offer_definition import AddressOfferDefinition
    from .address_offer_page import AddressOfferPage
    from .address_page import AddressPage
    from .address_point import AddressPoint
    from .address_space import AddressSpace
    from .address_space_create_request import AddressSpaceCreateRequest
    from .address_space_create_request_labels import AddressSpaceCreateRequestLabels
    from .address_space_labels import AddressSpaceLabels
    from .address_space_page import AddressSpacePage
    from .address_spec_request import AddressSpecRequest
    from .address_spec_request_labels import AddressSpecRequestLabels
    from .address_type import AddressType
    from .addressed_request import AddressedRequest
    from .alarm import Alarm
    from .alarm_create_request import AlarmCreateRequest
    from .alarm_page import AlarmPage
    from .approve_request import ApproveRequest
    from .audit_event import AuditEvent
    from .audit_event_after import AuditEventAfter
    from .audit_event_before import AuditEventBefore
    from .audit_event_page import AuditEventPage
    from .benefits import Benefits
    from .billing_details import BillingDetails
    from .billing_details_request import BillingDetailsRequest
    from .blank_enum import BlankEnum
    from .browse_request import BrowseRequest
    from .bulk_addresses_request import BulkAddressesRequest
    from .bulk_addresses_request_items_item import BulkAddressesRequestItemsItem
    from .bulk_answer import BulkAnswer
    from .bulk_names_request import BulkNamesRequest
    from .bulk_result import BulkResult
    from .bulk_result_problem_type_0 import BulkResultProblemType0
    from .caller import Caller
    from .catalog import Catalog
    from .catalog_document import CatalogDocument
    from .catalog_publish_request import CatalogPublishRequest
    from .cause_enum import CauseEnum
    from .change import Change
    from .channel import Channel
    from .channel_create_request import ChannelCreateRequest
    from .channel_kind import ChannelKind
    from .channel_page import ChannelPage
    from .choice import Choice
    from .choice_page import ChoicePage
    from .close_now_request import CloseNowRequest
    from .closure import Closure
    from .closure_request_request import ClosureRequestRequest
    from .commitment import Commitment
    from .commitment_create_request import CommitmentCreateRequest
    from .condition import Condition
    from .connection import Connection
    from .connections_close_request import ConnectionsCloseRequest
    from .connections_page import ConnectionsPage
    from .cost import Cost
    from .costs import Costs
    from .coupon import Coupon
    from .coupon_create_request import CouponCreateRequest
    from .coupon_page import CouponPage
    from .create_or_change_address_if_none_match import CreateOrChangeAddressIfNoneMatch
    from .credentials_request import CredentialsRequest
    from .credit import Credit
    from .credit_create_request import CreditCreateRequest
    from .credit_kind import CreditKind
    from .credit_line_request import CreditLineRequest
    from .credit_note import CreditNote
    from .credit_note_create_request import CreditNoteCreateRequest
    from .credit_note_detail import CreditNoteDetail
    from .credit_note_detail_document import CreditNoteDetailDocument
    from .credit_note_page import CreditNotePage
    from .credit_note_verification import CreditNoteVerification
    from .default_role_enum import DefaultRoleEnum
    from .defaults import Defaults
    from .defaults_choices import DefaultsChoices
    from .deferred_month import DeferredMonth
    from .deferred_revenue import DeferredRevenue
    from .delete_space_volumes import DeleteSpaceVolumes
    from .delivery import Delivery
    from .delivery_detail import DeliveryDetail
    from .delivery_detail_log_item import DeliveryDetailLogItem
    from .delivery_page import DeliveryPage
    from .delivery_state import DeliveryState
    from .device_option import DeviceOption
    from .device_tokens_request import DeviceTokensRequest
    from .discount import Discount
    from .domains_request import DomainsRequest
    from .endpoint import Endpoint
    from .export import Export
    from .export_document import ExportDocument
    from .failure import Failure
    from .figure import Figure
    from .get_credit_note_document_json_response_200 import (
        GetCreditNoteDocumentJsonResponse200,
    )
    from .get_history_address_span import GetHistoryAddressSpan
    from .get_invoice_document_json_response_200 import (
        GetInvoiceDocumentJsonResponse200,
    )
    from .get_usage_over_time_meter import GetUsageOverTimeMeter
    from .get_usage_over_time_step import GetUsageOverTimeStep
    from .grant import Grant
    from .grant_request import GrantRequest
    from .held_reason import HeldReason
    from .history import History
    from .identity_provider_request import IdentityProviderRequest
    from .identity_provider_request_group_roles import IdentityProviderRequestGroupRoles
    from .identity_provider_request_group_roles_additional_property import (
        IdentityProviderRequestGroupRolesAdditionalProperty,
    )
    from .instance_connections import InstanceConnections
    from .invitation import Invitation
    from .invitation_create_request import InvitationCreateRequest
    from .invitation_page import InvitationPage
    from .invoice import Invoice
    from .invoice_detail import InvoiceDetail
    from .invoice_detail_document_type_0 import InvoiceDetailDocumentType0
    from .invoice_page import InvoicePage
    from .invoice_reason_request import InvoiceReasonRequest
    from .invoice_state import InvoiceState
    from .journal import Journal
    from .journal_line import JournalLine
    from .kept_volumes import KeptVolumes
    from .kept_volumes_page import KeptVolumesPage
    from .kind_enum import KindEnum
    from .limits_request import LimitsRequest
    from .list_address_plans_address_type import ListAddressPlansAddressType
    from .list_address_plans_sort import ListAddressPlansSort
    from .list_address_plans_space_type import ListAddressPlansSpaceType
    from .list_addresses_phase import ListAddressesPhase
    from .list_addresses_sort import ListAddressesSort
    from .list_addresses_type import ListAddressesType
    from .list_alarms_metric import ListAlarmsMetric
    from .list_alarms_sort import ListAlarmsSort
    from .list_all_invoices_sort import ListAllInvoicesSort
    from .list_all_invoices_state import ListAllInvoicesState
    from .list_all_tenants_sort import ListAllTenantsSort
    from .list_audit_events_sort import ListAuditEventsSort
    from .list_connections_sort import ListConnectionsSort
    from .list_coupons_sort import ListCouponsSort
    from .list_credit_notes_sort import ListCreditNotesSort
    from .list_invitations_role import ListInvitationsRole
    from .list_invitations_sort import ListInvitationsSort
    from .list_invoices_sort import ListInvoicesSort
    from .list_invoices_state import ListInvoicesState
    from .list_kept_volumes_sort import ListKeptVolumesSort
    from .list_members_role import ListMembersRole
    from .list_members_sort import ListMembersSort
    from .list_messaging_users_phase import ListMessagingUsersPhase
    from .list_messaging_users_sort import ListMessagingUsersSort
    from .list_notification_channels_kind import ListNotificationChannelsKind
    from .list_notification_channels_sort import ListNotificationChannelsSort
    from .list_notification_deliveries_sort import ListNotificationDeliveriesSort
    from .list_notification_deliveries_state import ListNotificationDeliveriesState
    from .list_operations_sort import ListOperationsSort
    from .list_operations_state import ListOperationsState
    from .list_payments_sort import ListPaymentsSort
    from .list_plans_sort import ListPlansSort
    from .list_rollouts_sort import ListRolloutsSort
    from .list_rollouts_state import ListRolloutsState
    from .list_space_plans_sort import ListSpacePlansSort
    from .list_space_plans_space_type import ListSpacePlansSpaceType
    from .list_spaces_phase import ListSpacesPhase
    from .list_spaces_sort import ListSpacesSort
    from .list_spaces_type import ListSpacesType
    from .list_tokens_role import ListTokensRole
    from .list_tokens_sort import ListTokensSort
    from .live import Live
    from .login_options import LoginOptions
    from .maintenance_windows import Windows
    from .member import Member
    from .member_page import MemberPage
    from .member_role_request import MemberRoleRequest
    from .membership import Membership
    from .membership_page import MembershipPage
    from .message import Message
    from .message_application_properties import MessageApplicationProperties
    from .message_page import MessagePage
    from .message_properties import MessageProperties
    from .messaging_user import MessagingUser
    from .messaging_user_change_request import MessagingUserChangeRequest
    from .messaging_user_create_request import MessagingUserCreateRequest
    from .messaging_user_page import MessagingUserPage
    from .meter_enum import MeterEnum
    from .metric_enum import MetricEnum
    from .move_request import MoveRequest
    from .new_channel import NewChannel
    from .new_token import NewToken
    from .notification_kind import NotificationKind
    from .notification_kind_page import NotificationKindPage
    from .offer import Offer
    from .offer_definition import OfferDefinition
    from .offer_page import OfferPage
    from .operation import Operation
    from .operation_page import OperationPage
    from .operation_state import OperationState
    from .operations_enum import OperationsEnum
    from .overridden import Overridden
    from .override_quota_if_none_match import OverrideQuotaIfNoneMatch
    from .override_request import OverrideRequest
    from .past_rollout import PastRollout
    from .past_rollout_page import PastRolloutPage
    from .patched_address_labels_request import PatchedAddressLabelsRequest
    from .patched_address_labels_request_labels import PatchedAddressLabelsRequestLabels
    from .patched_address_space_change_request import PatchedAddressSpaceChangeRequest
    from .patched_address_space_change_request_labels import (
        PatchedAddressSpaceChangeRequestLabels,
    )
    from .patched_channel_update_request import PatchedChannelUpdateRequest
    from .patched_choices_change_request import PatchedChoicesChangeRequest
    from .patched_choices_change_request_choices import (
        PatchedChoicesChangeRequestChoices,
    )
    from .patched_defaults_change_request import PatchedDefaultsChangeRequest
    from .patched_defaults_change_request_choices import (
        PatchedDefaultsChangeRequestChoices,
    )
    from .payment import Payment
    from .payment_create_request import PaymentCreateRequest
    from .payment_page import PaymentPage
    from .permissions_enum import PermissionsEnum
    from .plan_choice_request import PlanChoiceRequest
    from .plan_subscription import PlanSubscription
    from .point import Point
    from .preview import Preview
    from .preview_document import PreviewDocument
    from .problem import Problem
    from .problem_fields import ProblemFields
    from .progress import Progress
    from .publication import Publication
    from .quota import Quota
    from .quota_page import QuotaPage
    from .redeem_request import RedeemRequest
    from .reduction_request import ReductionRequest
    from .release import Release
    from .resend_request import ResendRequest
    from .resource_enum import ResourceEnum
    from .role import Role
    from .rollout import Rollout
    from .rollout_state import RolloutState
    from .selected_request import SelectedRequest
    from .send_request import SendRequest
    from .send_request_properties import SendRequestProperties
    from .series import Series
    from .session import Session
    from .set_identity_provider_if_none_match import SetIdentityProviderIfNoneMatch
    from .set_identity_provider_tenant_if_none_match import (
        SetIdentityProviderTenantIfNoneMatch,
    )
    from .severity_enum import SeverityEnum
    from .shown_provider import ShownProvider
    from .shown_provider_group_roles import ShownProviderGroupRoles
    from .signed_up import SignedUp
    from .signup_request import SignupRequest
    from .space_offer import SpaceOffer
    from .space_offer_definition import SpaceOfferDefinition
    from .space_offer_page import SpaceOfferPage
    from .space_type import SpaceType
    from .staff_invoice import StaffInvoice
    from .staff_invoice_page import StaffInvoicePage
    from .staff_quotas import StaffQuotas
    from .staff_tenant import StaffTenant
    from .staff_tenant_page import StaffTenantPage
    from .status_enum import StatusEnum
    from .steer_request import SteerRequest
    from .step import Step
    from .step_enum import StepEnum
    from .suspension_request import SuspensionRequest
    from .tenant import Tenant
    from .tenant_create_request import TenantCreateRequest
    from .token import Token
    from .token_create_request import TokenCreateRequest
    from .token_page import TokenPage
    from .transfer_request import TransferRequest
    from .usage import Usage
    from .usage_totals import UsageTotals
    from .user_reading import UserReading
    from .verify_invoice_files import VerifyInvoiceFiles
    from .window import Window
    from .window_request import WindowRequest
    from .windows_request import WindowsRequest

_MODULES = {
    "AcceptRequest": ".accept_request",
    "AccountCodes": ".account_codes",
    "AccountCodesCodes": ".account_codes_codes",
    "AccountCodesRequest": ".account_codes_request",
    "AccountCodesRequestCodes": ".account_codes_request_codes",
    "Address": ".address",
    "AddressCreateRequest": ".address_create_request",
    "AddressCreateRequestLabels": ".address_create_request_labels",
    "AddressLabels": ".address_labels",
    "AddressOffer": ".address_offer",
    "AddressOfferDefinition": ".address_offer_definition",
    "AddressOfferPage": ".address_offer_page",
    "AddressPage": ".address_page",
    "AddressPoint": ".address_point",
    "AddressSpace": ".address_space",
    "AddressSpaceCreateRequest": ".address_space_create_request",
    "AddressSpaceCreateRequestLabels": ".address_space_create_request_labels",
    "AddressSpaceLabels": ".address_space_labels",
    "AddressSpacePage": ".address_space_page",
    "AddressSpecRequest": ".address_spec_request",
    "AddressSpecRequestLabels": ".address_spec_request_labels",
    "AddressType": ".address_type",
    "AddressedRequest": ".addressed_request",
    "Alarm": ".alarm",
    "AlarmCreateRequest": ".alarm_create_request",
    "AlarmPage": ".alarm_page",
    "ApproveRequest": ".approve_request",
    "AuditEvent": ".audit_event",
    "AuditEventAfter": ".audit_event_after",
    "AuditEventBefore": ".audit_event_before",
    "AuditEventPage": ".audit_event_page",
    "Benefits": ".benefits",
    "BillingDetails": ".billing_details",
    "BillingDetailsRequest": ".billing_details_request",
    "BlankEnum": ".blank_enum",
    "BrowseRequest": ".browse_request",
    "BulkAddressesRequest": ".bulk_addresses_request",
    "BulkAddressesRequestItemsItem": ".bulk_addresses_request_items_item",
    "BulkAnswer": ".bulk_answer",
    "BulkNamesRequest": ".bulk_names_request",
    "BulkResult": ".bulk_result",
    "BulkResultProblemType0": ".bulk_result_problem_type_0",
    "Caller": ".caller",
    "Catalog": ".catalog",
    "CatalogDocument": ".catalog_document",
    "CatalogPublishRequest": ".catalog_publish_request",
    "CauseEnum": ".cause_enum",
    "Change": ".change",
    "Channel": ".channel",
    "ChannelCreateRequest": ".channel_create_request",
    "ChannelKind": ".channel_kind",
    "ChannelPage": ".channel_page",
    "Choice": ".choice",
    "ChoicePage": ".choice_page",
    "CloseNowRequest": ".close_now_request",
    "Closure": ".closure",
    "ClosureRequestRequest": ".closure_request_request",
    "Commitment": ".commitment",
    "CommitmentCreateRequest": ".commitment_create_request",
    "Condition": ".condition",
    "Connection": ".connection",
    "ConnectionsCloseRequest": ".connections_close_request",
    "ConnectionsPage": ".connections_page",
    "Cost": ".cost",
    "Costs": ".costs",
    "Coupon": ".coupon",
    "CouponCreateRequest": ".coupon_create_request",
    "CouponPage": ".coupon_page",
    "CreateOrChangeAddressIfNoneMatch": ".create_or_change_address_if_none_match",
    "CredentialsRequest": ".credentials_request",
    "Credit": ".credit",
    "CreditCreateRequest": ".credit_create_request",
    "CreditKind": ".credit_kind",
    "CreditLineRequest": ".credit_line_request",
    "CreditNote": ".credit_note",
    "CreditNoteCreateRequest": ".credit_note_create_request",
    "CreditNoteDetail": ".credit_note_detail",
    "CreditNoteDetailDocument": ".credit_note_detail_document",
    "CreditNotePage": ".credit_note_page",
    "CreditNoteVerification": ".credit_note_verification",
    "DefaultRoleEnum": ".default_role_enum",
    "Defaults": ".defaults",
    "DefaultsChoices": ".defaults_choices",
    "DeferredMonth": ".deferred_month",
    "DeferredRevenue": ".deferred_revenue",
    "DeleteSpaceVolumes": ".delete_space_volumes",
    "Delivery": ".delivery",
    "DeliveryDetail": ".delivery_detail",
    "DeliveryDetailLogItem": ".delivery_detail_log_item",
    "DeliveryPage": ".delivery_page",
    "DeliveryState": ".delivery_state",
    "DeviceOption": ".device_option",
    "DeviceTokensRequest": ".device_tokens_request",
    "Discount": ".discount",
    "DomainsRequest": ".domains_request",
    "Endpoint": ".endpoint",
    "Export": ".export",
    "ExportDocument": ".export_document",
    "Failure": ".failure",
    "Figure": ".figure",
    "GetCreditNoteDocumentJsonResponse200": ".get_credit_note_document_json_response_200",
    "GetHistoryAddressSpan": ".get_history_address_span",
    "GetInvoiceDocumentJsonResponse200": ".get_invoice_document_json_response_200",
    "GetUsageOverTimeMeter": ".get_usage_over_time_meter",
    "GetUsageOverTimeStep": ".get_usage_over_time_step",
    "Grant": ".grant",
    "GrantRequest": ".grant_request",
    "HeldReason": ".held_reason",
    "History": ".history",
    "IdentityProviderRequest": ".identity_provider_request",
    "IdentityProviderRequestGroupRoles": ".identity_provider_request_group_roles",
    "IdentityProviderRequestGroupRolesAdditionalProperty": ".identity_provider_request_group_roles_additional_property",
    "InstanceConnections": ".instance_connections",
    "Invitation": ".invitation",
    "InvitationCreateRequest": ".invitation_create_request",
    "InvitationPage": ".invitation_page",
    "Invoice": ".invoice",
    "InvoiceDetail": ".invoice_detail",
    "InvoiceDetailDocumentType0": ".invoice_detail_document_type_0",
    "InvoicePage": ".invoice_page",
    "InvoiceReasonRequest": ".invoice_reason_request",
    "InvoiceState": ".invoice_state",
    "Journal": ".journal",
    "JournalLine": ".journal_line",
    "KeptVolumes": ".kept_volumes",
    "KeptVolumesPage": ".kept_volumes_page",
    "KindEnum": ".kind_enum",
    "LimitsRequest": ".limits_request",
    "ListAddressPlansAddressType": ".list_address_plans_address_type",
    "ListAddressPlansSort": ".list_address_plans_sort",
    "ListAddressPlansSpaceType": ".list_address_plans_space_type",
    "ListAddressesPhase": ".list_addresses_phase",
    "ListAddressesSort": ".list_addresses_sort",
    "ListAddressesType": ".list_addresses_type",
    "ListAlarmsMetric": ".list_alarms_metric",
    "ListAlarmsSort": ".list_alarms_sort",
    "ListAllInvoicesSort": ".list_all_invoices_sort",
    "ListAllInvoicesState": ".list_all_invoices_state",
    "ListAllTenantsSort": ".list_all_tenants_sort",
    "ListAuditEventsSort": ".list_audit_events_sort",
    "ListConnectionsSort": ".list_connections_sort",
    "ListCouponsSort": ".list_coupons_sort",
    "ListCreditNotesSort": ".list_credit_notes_sort",
    "ListInvitationsRole": ".list_invitations_role",
    "ListInvitationsSort": ".list_invitations_sort",
    "ListInvoicesSort": ".list_invoices_sort",
    "ListInvoicesState": ".list_invoices_state",
    "ListKeptVolumesSort": ".list_kept_volumes_sort",
    "ListMembersRole": ".list_members_role",
    "ListMembersSort": ".list_members_sort",
    "ListMessagingUsersPhase": ".list_messaging_users_phase",
    "ListMessagingUsersSort": ".list_messaging_users_sort",
    "ListNotificationChannelsKind": ".list_notification_channels_kind",
    "ListNotificationChannelsSort": ".list_notification_channels_sort",
    "ListNotificationDeliveriesSort": ".list_notification_deliveries_sort",
    "ListNotificationDeliveriesState": ".list_notification_deliveries_state",
    "ListOperationsSort": ".list_operations_sort",
    "ListOperationsState": ".list_operations_state",
    "ListPaymentsSort": ".list_payments_sort",
    "ListPlansSort": ".list_plans_sort",
    "ListRolloutsSort": ".list_rollouts_sort",
    "ListRolloutsState": ".list_rollouts_state",
    "ListSpacePlansSort": ".list_space_plans_sort",
    "ListSpacePlansSpaceType": ".list_space_plans_space_type",
    "ListSpacesPhase": ".list_spaces_phase",
    "ListSpacesSort": ".list_spaces_sort",
    "ListSpacesType": ".list_spaces_type",
    "ListTokensRole": ".list_tokens_role",
    "ListTokensSort": ".list_tokens_sort",
    "Live": ".live",
    "LoginOptions": ".login_options",
    "Windows": ".maintenance_windows",
    "Member": ".member",
    "MemberPage": ".member_page",
    "MemberRoleRequest": ".member_role_request",
    "Membership": ".membership",
    "MembershipPage": ".membership_page",
    "Message": ".message",
    "MessageApplicationProperties": ".message_application_properties",
    "MessagePage": ".message_page",
    "MessageProperties": ".message_properties",
    "MessagingUser": ".messaging_user",
    "MessagingUserChangeRequest": ".messaging_user_change_request",
    "MessagingUserCreateRequest": ".messaging_user_create_request",
    "MessagingUserPage": ".messaging_user_page",
    "MeterEnum": ".meter_enum",
    "MetricEnum": ".metric_enum",
    "MoveRequest": ".move_request",
    "NewChannel": ".new_channel",
    "NewToken": ".new_token",
    "NotificationKind": ".notification_kind",
    "NotificationKindPage": ".notification_kind_page",
    "Offer": ".offer",
    "OfferDefinition": ".offer_definition",
    "OfferPage": ".offer_page",
    "Operation": ".operation",
    "OperationPage": ".operation_page",
    "OperationState": ".operation_state",
    "OperationsEnum": ".operations_enum",
    "Overridden": ".overridden",
    "OverrideQuotaIfNoneMatch": ".override_quota_if_none_match",
    "OverrideRequest": ".override_request",
    "PastRollout": ".past_rollout",
    "PastRolloutPage": ".past_rollout_page",
    "PatchedAddressLabelsRequest": ".patched_address_labels_request",
    "PatchedAddressLabelsRequestLabels": ".patched_address_labels_request_labels",
    "PatchedAddressSpaceChangeRequest": ".patched_address_space_change_request",
    "PatchedAddressSpaceChangeRequestLabels": ".patched_address_space_change_request_labels",
    "PatchedChannelUpdateRequest": ".patched_channel_update_request",
    "PatchedChoicesChangeRequest": ".patched_choices_change_request",
    "PatchedChoicesChangeRequestChoices": ".patched_choices_change_request_choices",
    "PatchedDefaultsChangeRequest": ".patched_defaults_change_request",
    "PatchedDefaultsChangeRequestChoices": ".patched_defaults_change_request_choices",
    "Payment": ".payment",
    "PaymentCreateRequest": ".payment_create_request",
    "PaymentPage": ".payment_page",
    "PermissionsEnum": ".permissions_enum",
    "PlanChoiceRequest": ".plan_choice_request",
    "PlanSubscription": ".plan_subscription",
    "Point": ".point",
    "Preview": ".preview",
    "PreviewDocument": ".preview_document",
    "Problem": ".problem",
    "ProblemFields": ".problem_fields",
    "Progress": ".progress",
    "Publication": ".publication",
    "Quota": ".quota",
    "QuotaPage": ".quota_page",
    "RedeemRequest": ".redeem_request",
    "ReductionRequest": ".reduction_request",
    "Release": ".release",
    "ResendRequest": ".resend_request",
    "ResourceEnum": ".resource_enum",
    "Role": ".role",
    "Rollout": ".rollout",
    "RolloutState": ".rollout_state",
    "SelectedRequest": ".selected_request",
    "SendRequest": ".send_request",
    "SendRequestProperties": ".send_request_properties",
    "Series": ".series",
    "Session": ".session",
    "SetIdentityProviderIfNoneMatch": ".set_identity_provider_if_none_match",
    "SetIdentityProviderTenantIfNoneMatch": ".set_identity_provider_tenant_if_none_match",
    "SeverityEnum": ".severity_enum",
    "ShownProvider": ".shown_provider",
    "ShownProviderGroupRoles": ".shown_provider_group_roles",
    "SignedUp": ".signed_up",
    "SignupRequest": ".signup_request",
    "SpaceOffer": ".space_offer",
    "SpaceOfferDefinition": ".space_offer_definition",
    "SpaceOfferPage": ".space_offer_page",
    "SpaceType": ".space_type",
    "StaffInvoice": ".staff_invoice",
    "StaffInvoicePage": ".staff_invoice_page",
    "StaffQuotas": ".staff_quotas",
    "StaffTenant": ".staff_tenant",
    "StaffTenantPage": ".staff_tenant_page",
    "StatusEnum": ".status_enum",
    "SteerRequest": ".steer_request",
    "Step": ".step",
    "StepEnum": ".step_enum",
    "SuspensionRequest": ".suspension_request",
    "Tenant": ".tenant",
    "TenantCreateRequest": ".tenant_create_request",
    "Token": ".token",
    "TokenCreateRequest": ".token_create_request",
    "TokenPage": ".token_page",
    "TransferRequest": ".transfer_request",
    "Usage": ".usage",
    "UsageTotals": ".usage_totals",
    "UserReading": ".user_reading",
    "VerifyInvoiceFiles": ".verify_invoice_files",
    "Window": ".window",
    "WindowRequest": ".window_request",
    "WindowsRequest": ".windows_request",
}

__all__ = (
    "AcceptRequest",
    "AccountCodes",
    "AccountCodesCodes",
    "AccountCodesRequest",
    "AccountCodesRequestCodes",
    "Address",
    "AddressCreateRequest",
    "AddressCreateRequestLabels",
    "AddressedRequest",
    "AddressLabels",
    "AddressOffer",
    "AddressOfferDefinition",
    "AddressOfferPage",
    "AddressPage",
    "AddressPoint",
    "AddressSpace",
    "AddressSpaceCreateRequest",
    "AddressSpaceCreateRequestLabels",
    "AddressSpaceLabels",
    "AddressSpacePage",
    "AddressSpecRequest",
    "AddressSpecRequestLabels",
    "AddressType",
    "Alarm",
    "AlarmCreateRequest",
    "AlarmPage",
    "ApproveRequest",
    "AuditEvent",
    "AuditEventAfter",
    "AuditEventBefore",
    "AuditEventPage",
    "Benefits",
    "BillingDetails",
    "BillingDetailsRequest",
    "BlankEnum",
    "BrowseRequest",
    "BulkAddressesRequest",
    "BulkAddressesRequestItemsItem",
    "BulkAnswer",
    "BulkNamesRequest",
    "BulkResult",
    "BulkResultProblemType0",
    "Caller",
    "Catalog",
    "CatalogDocument",
    "CatalogPublishRequest",
    "CauseEnum",
    "Change",
    "Channel",
    "ChannelCreateRequest",
    "ChannelKind",
    "ChannelPage",
    "Choice",
    "ChoicePage",
    "CloseNowRequest",
    "Closure",
    "ClosureRequestRequest",
    "Commitment",
    "CommitmentCreateRequest",
    "Condition",
    "Connection",
    "ConnectionsCloseRequest",
    "ConnectionsPage",
    "Cost",
    "Costs",
    "Coupon",
    "CouponCreateRequest",
    "CouponPage",
    "CreateOrChangeAddressIfNoneMatch",
    "CredentialsRequest",
    "Credit",
    "CreditCreateRequest",
    "CreditKind",
    "CreditLineRequest",
    "CreditNote",
    "CreditNoteCreateRequest",
    "CreditNoteDetail",
    "CreditNoteDetailDocument",
    "CreditNotePage",
    "CreditNoteVerification",
    "DefaultRoleEnum",
    "Defaults",
    "DefaultsChoices",
    "DeferredMonth",
    "DeferredRevenue",
    "DeleteSpaceVolumes",
    "Delivery",
    "DeliveryDetail",
    "DeliveryDetailLogItem",
    "DeliveryPage",
    "DeliveryState",
    "DeviceOption",
    "DeviceTokensRequest",
    "Discount",
    "DomainsRequest",
    "Endpoint",
    "Export",
    "ExportDocument",
    "Failure",
    "Figure",
    "GetCreditNoteDocumentJsonResponse200",
    "GetHistoryAddressSpan",
    "GetInvoiceDocumentJsonResponse200",
    "GetUsageOverTimeMeter",
    "GetUsageOverTimeStep",
    "Grant",
    "GrantRequest",
    "HeldReason",
    "History",
    "IdentityProviderRequest",
    "IdentityProviderRequestGroupRoles",
    "IdentityProviderRequestGroupRolesAdditionalProperty",
    "InstanceConnections",
    "Invitation",
    "InvitationCreateRequest",
    "InvitationPage",
    "Invoice",
    "InvoiceDetail",
    "InvoiceDetailDocumentType0",
    "InvoicePage",
    "InvoiceReasonRequest",
    "InvoiceState",
    "Journal",
    "JournalLine",
    "KeptVolumes",
    "KeptVolumesPage",
    "KindEnum",
    "LimitsRequest",
    "ListAddressesPhase",
    "ListAddressesSort",
    "ListAddressesType",
    "ListAddressPlansAddressType",
    "ListAddressPlansSort",
    "ListAddressPlansSpaceType",
    "ListAlarmsMetric",
    "ListAlarmsSort",
    "ListAllInvoicesSort",
    "ListAllInvoicesState",
    "ListAllTenantsSort",
    "ListAuditEventsSort",
    "ListConnectionsSort",
    "ListCouponsSort",
    "ListCreditNotesSort",
    "ListInvitationsRole",
    "ListInvitationsSort",
    "ListInvoicesSort",
    "ListInvoicesState",
    "ListKeptVolumesSort",
    "ListMembersRole",
    "ListMembersSort",
    "ListMessagingUsersPhase",
    "ListMessagingUsersSort",
    "ListNotificationChannelsKind",
    "ListNotificationChannelsSort",
    "ListNotificationDeliveriesSort",
    "ListNotificationDeliveriesState",
    "ListOperationsSort",
    "ListOperationsState",
    "ListPaymentsSort",
    "ListPlansSort",
    "ListRolloutsSort",
    "ListRolloutsState",
    "ListSpacePlansSort",
    "ListSpacePlansSpaceType",
    "ListSpacesPhase",
    "ListSpacesSort",
    "ListSpacesType",
    "ListTokensRole",
    "ListTokensSort",
    "Live",
    "LoginOptions",
    "Member",
    "MemberPage",
    "MemberRoleRequest",
    "Membership",
    "MembershipPage",
    "Message",
    "MessageApplicationProperties",
    "MessagePage",
    "MessageProperties",
    "MessagingUser",
    "MessagingUserChangeRequest",
    "MessagingUserCreateRequest",
    "MessagingUserPage",
    "MeterEnum",
    "MetricEnum",
    "MoveRequest",
    "NewChannel",
    "NewToken",
    "NotificationKind",
    "NotificationKindPage",
    "Offer",
    "OfferDefinition",
    "OfferPage",
    "Operation",
    "OperationPage",
    "OperationsEnum",
    "OperationState",
    "Overridden",
    "OverrideQuotaIfNoneMatch",
    "OverrideRequest",
    "PastRollout",
    "PastRolloutPage",
    "PatchedAddressLabelsRequest",
    "PatchedAddressLabelsRequestLabels",
    "PatchedAddressSpaceChangeRequest",
    "PatchedAddressSpaceChangeRequestLabels",
    "PatchedChannelUpdateRequest",
    "PatchedChoicesChangeRequest",
    "PatchedChoicesChangeRequestChoices",
    "PatchedDefaultsChangeRequest",
    "PatchedDefaultsChangeRequestChoices",
    "Payment",
    "PaymentCreateRequest",
    "PaymentPage",
    "PermissionsEnum",
    "PlanChoiceRequest",
    "PlanSubscription",
    "Point",
    "Preview",
    "PreviewDocument",
    "Problem",
    "ProblemFields",
    "Progress",
    "Publication",
    "Quota",
    "QuotaPage",
    "RedeemRequest",
    "ReductionRequest",
    "Release",
    "ResendRequest",
    "ResourceEnum",
    "Role",
    "Rollout",
    "RolloutState",
    "SelectedRequest",
    "SendRequest",
    "SendRequestProperties",
    "Series",
    "Session",
    "SetIdentityProviderIfNoneMatch",
    "SetIdentityProviderTenantIfNoneMatch",
    "SeverityEnum",
    "ShownProvider",
    "ShownProviderGroupRoles",
    "SignedUp",
    "SignupRequest",
    "SpaceOffer",
    "SpaceOfferDefinition",
    "SpaceOfferPage",
    "SpaceType",
    "StaffInvoice",
    "StaffInvoicePage",
    "StaffQuotas",
    "StaffTenant",
    "StaffTenantPage",
    "StatusEnum",
    "SteerRequest",
    "Step",
    "StepEnum",
    "SuspensionRequest",
    "Tenant",
    "TenantCreateRequest",
    "Token",
    "TokenCreateRequest",
    "TokenPage",
    "TransferRequest",
    "Usage",
    "UsageTotals",
    "UserReading",
    "VerifyInvoiceFiles",
    "Window",
    "WindowRequest",
    "Windows",
    "WindowsRequest",
)

if not TYPE_CHECKING:  # so that a name that does not exist is an error of types

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(name)
        return getattr(import_module(_MODULES[name], __package__), name)
