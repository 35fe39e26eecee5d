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
    from .action_enum import ActionEnum
    from .action_failure import ActionFailure
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
    from .aged_receivables import AgedReceivables
    from .alarm import Alarm
    from .alarm_create_request import AlarmCreateRequest
    from .alarm_page import AlarmPage
    from .approve_request import ApproveRequest
    from .audit_event import AuditEvent
    from .audit_event_after import AuditEventAfter
    from .audit_event_before import AuditEventBefore
    from .audit_event_page import AuditEventPage
    from .back_test import BackTest
    from .back_test_create_request import BackTestCreateRequest
    from .back_test_month import BackTestMonth
    from .back_test_month_page import BackTestMonthPage
    from .back_test_source import BackTestSource
    from .back_test_state import BackTestState
    from .back_test_sum import BackTestSum
    from .balance import Balance
    from .benefits import Benefits
    from .billing_details import BillingDetails
    from .billing_details_request import BillingDetailsRequest
    from .blank_enum import BlankEnum
    from .browse_request import BrowseRequest
    from .bucket_enum import BucketEnum
    from .bulk_addresses_request import BulkAddressesRequest
    from .bulk_addresses_request_items_item import BulkAddressesRequestItemsItem
    from .bulk_answer import BulkAnswer
    from .bulk_names_request import BulkNamesRequest
    from .bulk_result import BulkResult
    from .bulk_result_problem_type_0 import BulkResultProblemType0
    from .caller import Caller
    from .catalog import Catalog
    from .catalog_document import CatalogDocument
    from .catalog_draft import CatalogDraft
    from .catalog_draft_detail import CatalogDraftDetail
    from .catalog_draft_page import CatalogDraftPage
    from .catalog_draft_state import CatalogDraftState
    from .catalog_publish_request import CatalogPublishRequest
    from .catalog_version import CatalogVersion
    from .catalog_version_page import CatalogVersionPage
    from .category_enum import CategoryEnum
    from .cause_enum import CauseEnum
    from .caused_by_enum import CausedByEnum
    from .change import Change
    from .change_part import ChangePart
    from .channel import Channel
    from .channel_create_request import ChannelCreateRequest
    from .channel_kind import ChannelKind
    from .channel_page import ChannelPage
    from .checkout import Checkout
    from .choice import Choice
    from .choice_page import ChoicePage
    from .close_now_request import CloseNowRequest
    from .close_run import CloseRun
    from .close_run_action import CloseRunAction
    from .close_run_action_kind import CloseRunActionKind
    from .close_run_create_request import CloseRunCreateRequest
    from .close_run_detail import CloseRunDetail
    from .close_run_detail_states import CloseRunDetailStates
    from .close_run_invoice import CloseRunInvoice
    from .close_run_invoice_page import CloseRunInvoicePage
    from .close_run_page import CloseRunPage
    from .closure import Closure
    from .closure_request_request import ClosureRequestRequest
    from .coming_version import ComingVersion
    from .commitment import Commitment
    from .commitment_create_request import CommitmentCreateRequest
    from .commitment_end_request import CommitmentEndRequest
    from .commitment_progress import CommitmentProgress
    from .condition import Condition
    from .connection import Connection
    from .connections_close_request import ConnectionsCloseRequest
    from .connections_page import ConnectionsPage
    from .cost import Cost
    from .costs import Costs
    from .counter import Counter
    from .counter_page import CounterPage
    from .counter_values import CounterValues
    from .coupon import Coupon
    from .coupon_create_request import CouponCreateRequest
    from .coupon_end_request import CouponEndRequest
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
    from .credit_pay_back_request import CreditPayBackRequest
    from .currency_total import CurrencyTotal
    from .debt import Debt
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
    from .difference import Difference
    from .discount import Discount
    from .discount_end_request import DiscountEndRequest
    from .dispute import Dispute
    from .dispute_state_enum import DisputeStateEnum
    from .divided_line import DividedLine
    from .domains_request import DomainsRequest
    from .draft_create_request import DraftCreateRequest
    from .endpoint import Endpoint
    from .exemption import Exemption
    from .exemption_create_request import ExemptionCreateRequest
    from .exemption_end_request import ExemptionEndRequest
    from .export import Export
    from .export_document import ExportDocument
    from .failure import Failure
    from .figure import Figure
    from .get_credit_note_document_json_response_200 import (
        GetCreditNoteDocumentJsonResponse200,
    )
    from .get_credit_note_document_json_staff_response_200 import (
        GetCreditNoteDocumentJsonStaffResponse200,
    )
    from .get_history_address_span import GetHistoryAddressSpan
    from .get_invoice_document_json_response_200 import (
        GetInvoiceDocumentJsonResponse200,
    )
    from .get_invoice_document_json_staff_response_200 import (
        GetInvoiceDocumentJsonStaffResponse200,
    )
    from .get_usage_over_time_meter import GetUsageOverTimeMeter
    from .get_usage_over_time_step import GetUsageOverTimeStep
    from .grant import Grant
    from .grant_request import GrantRequest
    from .held_group import HeldGroup
    from .held_reason import HeldReason
    from .held_tenant import HeldTenant
    from .history import History
    from .hour import Hour
    from .hour_used import HourUsed
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
    from .invoice_change import InvoiceChange
    from .invoice_detail import InvoiceDetail
    from .invoice_detail_document_type_0 import InvoiceDetailDocumentType0
    from .invoice_page import InvoicePage
    from .invoice_reason_request import InvoiceReasonRequest
    from .invoice_state import InvoiceState
    from .job_enum import JobEnum
    from .journal import Journal
    from .journal_line import JournalLine
    from .kept_volumes import KeptVolumes
    from .kept_volumes_page import KeptVolumesPage
    from .kind_enum import KindEnum
    from .lakehouse_run import LakehouseRun
    from .lakehouse_run_files import LakehouseRunFiles
    from .lakehouse_run_page import LakehouseRunPage
    from .limits_request import LimitsRequest
    from .line_step import LineStep
    from .list_address_plans_address_type import ListAddressPlansAddressType
    from .list_address_plans_sort import ListAddressPlansSort
    from .list_address_plans_space_type import ListAddressPlansSpaceType
    from .list_addresses_phase import ListAddressesPhase
    from .list_addresses_sort import ListAddressesSort
    from .list_addresses_type import ListAddressesType
    from .list_alarms_metric import ListAlarmsMetric
    from .list_alarms_sort import ListAlarmsSort
    from .list_all_credit_notes_sort import ListAllCreditNotesSort
    from .list_all_invoices_sort import ListAllInvoicesSort
    from .list_all_invoices_state import ListAllInvoicesState
    from .list_all_payments_sort import ListAllPaymentsSort
    from .list_all_tenants_sort import ListAllTenantsSort
    from .list_audit_events_sort import ListAuditEventsSort
    from .list_back_test_months_sort import ListBackTestMonthsSort
    from .list_catalog_drafts_sort import ListCatalogDraftsSort
    from .list_catalog_drafts_state import ListCatalogDraftsState
    from .list_catalog_versions_sort import ListCatalogVersionsSort
    from .list_close_runs_sort import ListCloseRunsSort
    from .list_connections_sort import ListConnectionsSort
    from .list_coupons_sort import ListCouponsSort
    from .list_credit_movements_sort import ListCreditMovementsSort
    from .list_credit_movements_tenant_sort import ListCreditMovementsTenantSort
    from .list_credit_notes_sort import ListCreditNotesSort
    from .list_invitations_role import ListInvitationsRole
    from .list_invitations_sort import ListInvitationsSort
    from .list_invoices_close_run_sort import ListInvoicesCloseRunSort
    from .list_invoices_close_run_state import ListInvoicesCloseRunState
    from .list_invoices_sort import ListInvoicesSort
    from .list_invoices_state import ListInvoicesState
    from .list_kept_volumes_sort import ListKeptVolumesSort
    from .list_lakehouse_runs_job import ListLakehouseRunsJob
    from .list_lakehouse_runs_sort import ListLakehouseRunsSort
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
    from .list_overdue_invoices_sort import ListOverdueInvoicesSort
    from .list_payment_events_sort import ListPaymentEventsSort
    from .list_payment_events_state import ListPaymentEventsState
    from .list_payments_sort import ListPaymentsSort
    from .list_plans_sort import ListPlansSort
    from .list_quarantined_samples_reason import ListQuarantinedSamplesReason
    from .list_quarantined_samples_sort import ListQuarantinedSamplesSort
    from .list_read_counters_sort import ListReadCountersSort
    from .list_read_samples_sort import ListReadSamplesSort
    from .list_rollouts_sort import ListRolloutsSort
    from .list_rollouts_state import ListRolloutsState
    from .list_space_plans_sort import ListSpacePlansSort
    from .list_space_plans_space_type import ListSpacePlansSpaceType
    from .list_spaces_phase import ListSpacesPhase
    from .list_spaces_sort import ListSpacesSort
    from .list_spaces_type import ListSpacesType
    from .list_tenant_payments_sort import ListTenantPaymentsSort
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
    from .movement import Movement
    from .movement_kind_enum import MovementKindEnum
    from .movement_page import MovementPage
    from .new_channel import NewChannel
    from .new_token import NewToken
    from .notification_kind import NotificationKind
    from .notification_kind_page import NotificationKindPage
    from .offer import Offer
    from .offer_definition import OfferDefinition
    from .offer_page import OfferPage
    from .open_item import OpenItem
    from .open_items import OpenItems
    from .operation import Operation
    from .operation_page import OperationPage
    from .operation_state import OperationState
    from .operations_enum import OperationsEnum
    from .overdue import Overdue
    from .overdue_page import OverduePage
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
    from .pause_request import PauseRequest
    from .paused import Paused
    from .payment import Payment
    from .payment_create_request import PaymentCreateRequest
    from .payment_event import PaymentEvent
    from .payment_event_page import PaymentEventPage
    from .payment_event_state_enum import PaymentEventStateEnum
    from .payment_page import PaymentPage
    from .period_without_invoice import PeriodWithoutInvoice
    from .period_without_invoice_state_enum import PeriodWithoutInvoiceStateEnum
    from .periods_without_invoice import PeriodsWithoutInvoice
    from .permissions_enum import PermissionsEnum
    from .pipeline import Pipeline
    from .plan_choice_request import PlanChoiceRequest
    from .plan_subscription import PlanSubscription
    from .point import Point
    from .preview import Preview
    from .preview_document import PreviewDocument
    from .problem import Problem
    from .problem_fields import ProblemFields
    from .progress import Progress
    from .publication import Publication
    from .quarantined_sample import QuarantinedSample
    from .quarantined_sample_page import QuarantinedSamplePage
    from .quota import Quota
    from .quota_page import QuotaPage
    from .rate_sum import RateSum
    from .read_from_enum import ReadFromEnum
    from .reading import Reading
    from .reading_create_request import ReadingCreateRequest
    from .reading_from_samples import ReadingFromSamples
    from .reason_enum import ReasonEnum
    from .redeem_request import RedeemRequest
    from .reduction_request import ReductionRequest
    from .refund import Refund
    from .refund_create_request import RefundCreateRequest
    from .refund_kind_enum import RefundKindEnum
    from .refund_state_enum import RefundStateEnum
    from .register_answer_request import RegisterAnswerRequest
    from .release import Release
    from .release_request import ReleaseRequest
    from .replacement_create_request import ReplacementCreateRequest
    from .replacement_preview import ReplacementPreview
    from .replacement_preview_document import ReplacementPreviewDocument
    from .resend_request import ResendRequest
    from .resource_enum import ResourceEnum
    from .reverse_charge_customer import ReverseChargeCustomer
    from .role import Role
    from .rollout import Rollout
    from .rollout_state import RolloutState
    from .sample import Sample
    from .sample_page import SamplePage
    from .sample_values import SampleValues
    from .selected_request import SelectedRequest
    from .seller import Seller
    from .seller_choice_request import SellerChoiceRequest
    from .seller_page import SellerPage
    from .send_request import SendRequest
    from .send_request_properties import SendRequestProperties
    from .series import Series
    from .session import Session
    from .set_identity_provider_if_none_match import SetIdentityProviderIfNoneMatch
    from .set_identity_provider_tenant_if_none_match import (
        SetIdentityProviderTenantIfNoneMatch,
    )
    from .set_spend_cap_if_none_match import SetSpendCapIfNoneMatch
    from .severity_enum import SeverityEnum
    from .shown_provider import ShownProvider
    from .shown_provider_group_roles import ShownProviderGroupRoles
    from .side import Side
    from .signed_up import SignedUp
    from .signup_request import SignupRequest
    from .simulated_day import SimulatedDay
    from .simulation import Simulation
    from .simulation_affected import SimulationAffected
    from .skipped import Skipped
    from .space_offer import SpaceOffer
    from .space_offer_definition import SpaceOfferDefinition
    from .space_offer_page import SpaceOfferPage
    from .space_type import SpaceType
    from .spend_cap import SpendCap
    from .spend_cap_change_request import SpendCapChangeRequest
    from .staff_credit_note import StaffCreditNote
    from .staff_credit_note_detail import StaffCreditNoteDetail
    from .staff_credit_note_detail_document import StaffCreditNoteDetailDocument
    from .staff_credit_note_page import StaffCreditNotePage
    from .staff_invoice import StaffInvoice
    from .staff_invoice_detail import StaffInvoiceDetail
    from .staff_invoice_detail_document_type_0 import StaffInvoiceDetailDocumentType0
    from .staff_invoice_page import StaffInvoicePage
    from .staff_payment import StaffPayment
    from .staff_payment_page import StaffPaymentPage
    from .staff_quotas import StaffQuotas
    from .staff_tax_details import StaffTaxDetails
    from .staff_tax_id_check import StaffTaxIdCheck
    from .staff_tenant import StaffTenant
    from .staff_tenant_page import StaffTenantPage
    from .status_enum import StatusEnum
    from .steer_request import SteerRequest
    from .step import Step
    from .step_enum import StepEnum
    from .suspension_request import SuspensionRequest
    from .tax_details import TaxDetails
    from .tax_id_check import TaxIdCheck
    from .tax_report import TaxReport
    from .tenant import Tenant
    from .tenant_create_request import TenantCreateRequest
    from .tenant_debt import TenantDebt
    from .tenant_payment import TenantPayment
    from .tenant_payment_page import TenantPaymentPage
    from .tenant_seller import TenantSeller
    from .timing_request import TimingRequest
    from .token import Token
    from .token_create_request import TokenCreateRequest
    from .token_page import TokenPage
    from .transfer_request import TransferRequest
    from .trial import Trial
    from .usage import Usage
    from .usage_totals import UsageTotals
    from .user_reading import UserReading
    from .verify_invoice_files import VerifyInvoiceFiles
    from .verify_invoice_staff_files import VerifyInvoiceStaffFiles
    from .waiting import Waiting
    from .window import Window
    from .window_request import WindowRequest
    from .windows_request import WindowsRequest

_MODULES = {
    "AcceptRequest": ".accept_request",
    "AccountCodes": ".account_codes",
    "AccountCodesCodes": ".account_codes_codes",
    "AccountCodesRequest": ".account_codes_request",
    "AccountCodesRequestCodes": ".account_codes_request_codes",
    "ActionEnum": ".action_enum",
    "ActionFailure": ".action_failure",
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
    "AgedReceivables": ".aged_receivables",
    "Alarm": ".alarm",
    "AlarmCreateRequest": ".alarm_create_request",
    "AlarmPage": ".alarm_page",
    "ApproveRequest": ".approve_request",
    "AuditEvent": ".audit_event",
    "AuditEventAfter": ".audit_event_after",
    "AuditEventBefore": ".audit_event_before",
    "AuditEventPage": ".audit_event_page",
    "BackTest": ".back_test",
    "BackTestCreateRequest": ".back_test_create_request",
    "BackTestMonth": ".back_test_month",
    "BackTestMonthPage": ".back_test_month_page",
    "BackTestSource": ".back_test_source",
    "BackTestState": ".back_test_state",
    "BackTestSum": ".back_test_sum",
    "Balance": ".balance",
    "Benefits": ".benefits",
    "BillingDetails": ".billing_details",
    "BillingDetailsRequest": ".billing_details_request",
    "BlankEnum": ".blank_enum",
    "BrowseRequest": ".browse_request",
    "BucketEnum": ".bucket_enum",
    "BulkAddressesRequest": ".bulk_addresses_request",
    "BulkAddressesRequestItemsItem": ".bulk_addresses_request_items_item",
    "BulkAnswer": ".bulk_answer",
    "BulkNamesRequest": ".bulk_names_request",
    "BulkResult": ".bulk_result",
    "BulkResultProblemType0": ".bulk_result_problem_type_0",
    "Caller": ".caller",
    "Catalog": ".catalog",
    "CatalogDocument": ".catalog_document",
    "CatalogDraft": ".catalog_draft",
    "CatalogDraftDetail": ".catalog_draft_detail",
    "CatalogDraftPage": ".catalog_draft_page",
    "CatalogDraftState": ".catalog_draft_state",
    "CatalogPublishRequest": ".catalog_publish_request",
    "CatalogVersion": ".catalog_version",
    "CatalogVersionPage": ".catalog_version_page",
    "CategoryEnum": ".category_enum",
    "CauseEnum": ".cause_enum",
    "CausedByEnum": ".caused_by_enum",
    "Change": ".change",
    "ChangePart": ".change_part",
    "Channel": ".channel",
    "ChannelCreateRequest": ".channel_create_request",
    "ChannelKind": ".channel_kind",
    "ChannelPage": ".channel_page",
    "Checkout": ".checkout",
    "Choice": ".choice",
    "ChoicePage": ".choice_page",
    "CloseNowRequest": ".close_now_request",
    "CloseRun": ".close_run",
    "CloseRunAction": ".close_run_action",
    "CloseRunActionKind": ".close_run_action_kind",
    "CloseRunCreateRequest": ".close_run_create_request",
    "CloseRunDetail": ".close_run_detail",
    "CloseRunDetailStates": ".close_run_detail_states",
    "CloseRunInvoice": ".close_run_invoice",
    "CloseRunInvoicePage": ".close_run_invoice_page",
    "CloseRunPage": ".close_run_page",
    "Closure": ".closure",
    "ClosureRequestRequest": ".closure_request_request",
    "ComingVersion": ".coming_version",
    "Commitment": ".commitment",
    "CommitmentCreateRequest": ".commitment_create_request",
    "CommitmentEndRequest": ".commitment_end_request",
    "CommitmentProgress": ".commitment_progress",
    "Condition": ".condition",
    "Connection": ".connection",
    "ConnectionsCloseRequest": ".connections_close_request",
    "ConnectionsPage": ".connections_page",
    "Cost": ".cost",
    "Costs": ".costs",
    "Counter": ".counter",
    "CounterPage": ".counter_page",
    "CounterValues": ".counter_values",
    "Coupon": ".coupon",
    "CouponCreateRequest": ".coupon_create_request",
    "CouponEndRequest": ".coupon_end_request",
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
    "CreditPayBackRequest": ".credit_pay_back_request",
    "CurrencyTotal": ".currency_total",
    "Debt": ".debt",
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
    "Difference": ".difference",
    "Discount": ".discount",
    "DiscountEndRequest": ".discount_end_request",
    "Dispute": ".dispute",
    "DisputeStateEnum": ".dispute_state_enum",
    "DividedLine": ".divided_line",
    "DomainsRequest": ".domains_request",
    "DraftCreateRequest": ".draft_create_request",
    "Endpoint": ".endpoint",
    "Exemption": ".exemption",
    "ExemptionCreateRequest": ".exemption_create_request",
    "ExemptionEndRequest": ".exemption_end_request",
    "Export": ".export",
    "ExportDocument": ".export_document",
    "Failure": ".failure",
    "Figure": ".figure",
    "GetCreditNoteDocumentJsonResponse200": ".get_credit_note_document_json_response_200",
    "GetCreditNoteDocumentJsonStaffResponse200": ".get_credit_note_document_json_staff_response_200",
    "GetHistoryAddressSpan": ".get_history_address_span",
    "GetInvoiceDocumentJsonResponse200": ".get_invoice_document_json_response_200",
    "GetInvoiceDocumentJsonStaffResponse200": ".get_invoice_document_json_staff_response_200",
    "GetUsageOverTimeMeter": ".get_usage_over_time_meter",
    "GetUsageOverTimeStep": ".get_usage_over_time_step",
    "Grant": ".grant",
    "GrantRequest": ".grant_request",
    "HeldGroup": ".held_group",
    "HeldReason": ".held_reason",
    "HeldTenant": ".held_tenant",
    "History": ".history",
    "Hour": ".hour",
    "HourUsed": ".hour_used",
    "IdentityProviderRequest": ".identity_provider_request",
    "IdentityProviderRequestGroupRoles": ".identity_provider_request_group_roles",
    "IdentityProviderRequestGroupRolesAdditionalProperty": ".identity_provider_request_group_roles_additional_property",
    "InstanceConnections": ".instance_connections",
    "Invitation": ".invitation",
    "InvitationCreateRequest": ".invitation_create_request",
    "InvitationPage": ".invitation_page",
    "Invoice": ".invoice",
    "InvoiceChange": ".invoice_change",
    "InvoiceDetail": ".invoice_detail",
    "InvoiceDetailDocumentType0": ".invoice_detail_document_type_0",
    "InvoicePage": ".invoice_page",
    "InvoiceReasonRequest": ".invoice_reason_request",
    "InvoiceState": ".invoice_state",
    "JobEnum": ".job_enum",
    "Journal": ".journal",
    "JournalLine": ".journal_line",
    "KeptVolumes": ".kept_volumes",
    "KeptVolumesPage": ".kept_volumes_page",
    "KindEnum": ".kind_enum",
    "LakehouseRun": ".lakehouse_run",
    "LakehouseRunFiles": ".lakehouse_run_files",
    "LakehouseRunPage": ".lakehouse_run_page",
    "LimitsRequest": ".limits_request",
    "LineStep": ".line_step",
    "ListAddressPlansAddressType": ".list_address_plans_address_type",
    "ListAddressPlansSort": ".list_address_plans_sort",
    "ListAddressPlansSpaceType": ".list_address_plans_space_type",
    "ListAddressesPhase": ".list_addresses_phase",
    "ListAddressesSort": ".list_addresses_sort",
    "ListAddressesType": ".list_addresses_type",
    "ListAlarmsMetric": ".list_alarms_metric",
    "ListAlarmsSort": ".list_alarms_sort",
    "ListAllCreditNotesSort": ".list_all_credit_notes_sort",
    "ListAllInvoicesSort": ".list_all_invoices_sort",
    "ListAllInvoicesState": ".list_all_invoices_state",
    "ListAllPaymentsSort": ".list_all_payments_sort",
    "ListAllTenantsSort": ".list_all_tenants_sort",
    "ListAuditEventsSort": ".list_audit_events_sort",
    "ListBackTestMonthsSort": ".list_back_test_months_sort",
    "ListCatalogDraftsSort": ".list_catalog_drafts_sort",
    "ListCatalogDraftsState": ".list_catalog_drafts_state",
    "ListCatalogVersionsSort": ".list_catalog_versions_sort",
    "ListCloseRunsSort": ".list_close_runs_sort",
    "ListConnectionsSort": ".list_connections_sort",
    "ListCouponsSort": ".list_coupons_sort",
    "ListCreditMovementsSort": ".list_credit_movements_sort",
    "ListCreditMovementsTenantSort": ".list_credit_movements_tenant_sort",
    "ListCreditNotesSort": ".list_credit_notes_sort",
    "ListInvitationsRole": ".list_invitations_role",
    "ListInvitationsSort": ".list_invitations_sort",
    "ListInvoicesCloseRunSort": ".list_invoices_close_run_sort",
    "ListInvoicesCloseRunState": ".list_invoices_close_run_state",
    "ListInvoicesSort": ".list_invoices_sort",
    "ListInvoicesState": ".list_invoices_state",
    "ListKeptVolumesSort": ".list_kept_volumes_sort",
    "ListLakehouseRunsJob": ".list_lakehouse_runs_job",
    "ListLakehouseRunsSort": ".list_lakehouse_runs_sort",
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
    "ListOverdueInvoicesSort": ".list_overdue_invoices_sort",
    "ListPaymentEventsSort": ".list_payment_events_sort",
    "ListPaymentEventsState": ".list_payment_events_state",
    "ListPaymentsSort": ".list_payments_sort",
    "ListPlansSort": ".list_plans_sort",
    "ListQuarantinedSamplesReason": ".list_quarantined_samples_reason",
    "ListQuarantinedSamplesSort": ".list_quarantined_samples_sort",
    "ListReadCountersSort": ".list_read_counters_sort",
    "ListReadSamplesSort": ".list_read_samples_sort",
    "ListRolloutsSort": ".list_rollouts_sort",
    "ListRolloutsState": ".list_rollouts_state",
    "ListSpacePlansSort": ".list_space_plans_sort",
    "ListSpacePlansSpaceType": ".list_space_plans_space_type",
    "ListSpacesPhase": ".list_spaces_phase",
    "ListSpacesSort": ".list_spaces_sort",
    "ListSpacesType": ".list_spaces_type",
    "ListTenantPaymentsSort": ".list_tenant_payments_sort",
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
    "Movement": ".movement",
    "MovementKindEnum": ".movement_kind_enum",
    "MovementPage": ".movement_page",
    "NewChannel": ".new_channel",
    "NewToken": ".new_token",
    "NotificationKind": ".notification_kind",
    "NotificationKindPage": ".notification_kind_page",
    "Offer": ".offer",
    "OfferDefinition": ".offer_definition",
    "OfferPage": ".offer_page",
    "OpenItem": ".open_item",
    "OpenItems": ".open_items",
    "Operation": ".operation",
    "OperationPage": ".operation_page",
    "OperationState": ".operation_state",
    "OperationsEnum": ".operations_enum",
    "Overdue": ".overdue",
    "OverduePage": ".overdue_page",
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
    "PauseRequest": ".pause_request",
    "Paused": ".paused",
    "Payment": ".payment",
    "PaymentCreateRequest": ".payment_create_request",
    "PaymentEvent": ".payment_event",
    "PaymentEventPage": ".payment_event_page",
    "PaymentEventStateEnum": ".payment_event_state_enum",
    "PaymentPage": ".payment_page",
    "PeriodWithoutInvoice": ".period_without_invoice",
    "PeriodWithoutInvoiceStateEnum": ".period_without_invoice_state_enum",
    "PeriodsWithoutInvoice": ".periods_without_invoice",
    "PermissionsEnum": ".permissions_enum",
    "Pipeline": ".pipeline",
    "PlanChoiceRequest": ".plan_choice_request",
    "PlanSubscription": ".plan_subscription",
    "Point": ".point",
    "Preview": ".preview",
    "PreviewDocument": ".preview_document",
    "Problem": ".problem",
    "ProblemFields": ".problem_fields",
    "Progress": ".progress",
    "Publication": ".publication",
    "QuarantinedSample": ".quarantined_sample",
    "QuarantinedSamplePage": ".quarantined_sample_page",
    "Quota": ".quota",
    "QuotaPage": ".quota_page",
    "RateSum": ".rate_sum",
    "ReadFromEnum": ".read_from_enum",
    "Reading": ".reading",
    "ReadingCreateRequest": ".reading_create_request",
    "ReadingFromSamples": ".reading_from_samples",
    "ReasonEnum": ".reason_enum",
    "RedeemRequest": ".redeem_request",
    "ReductionRequest": ".reduction_request",
    "Refund": ".refund",
    "RefundCreateRequest": ".refund_create_request",
    "RefundKindEnum": ".refund_kind_enum",
    "RefundStateEnum": ".refund_state_enum",
    "RegisterAnswerRequest": ".register_answer_request",
    "Release": ".release",
    "ReleaseRequest": ".release_request",
    "ReplacementCreateRequest": ".replacement_create_request",
    "ReplacementPreview": ".replacement_preview",
    "ReplacementPreviewDocument": ".replacement_preview_document",
    "ResendRequest": ".resend_request",
    "ResourceEnum": ".resource_enum",
    "ReverseChargeCustomer": ".reverse_charge_customer",
    "Role": ".role",
    "Rollout": ".rollout",
    "RolloutState": ".rollout_state",
    "Sample": ".sample",
    "SamplePage": ".sample_page",
    "SampleValues": ".sample_values",
    "SelectedRequest": ".selected_request",
    "Seller": ".seller",
    "SellerChoiceRequest": ".seller_choice_request",
    "SellerPage": ".seller_page",
    "SendRequest": ".send_request",
    "SendRequestProperties": ".send_request_properties",
    "Series": ".series",
    "Session": ".session",
    "SetIdentityProviderIfNoneMatch": ".set_identity_provider_if_none_match",
    "SetIdentityProviderTenantIfNoneMatch": ".set_identity_provider_tenant_if_none_match",
    "SetSpendCapIfNoneMatch": ".set_spend_cap_if_none_match",
    "SeverityEnum": ".severity_enum",
    "ShownProvider": ".shown_provider",
    "ShownProviderGroupRoles": ".shown_provider_group_roles",
    "Side": ".side",
    "SignedUp": ".signed_up",
    "SignupRequest": ".signup_request",
    "SimulatedDay": ".simulated_day",
    "Simulation": ".simulation",
    "SimulationAffected": ".simulation_affected",
    "Skipped": ".skipped",
    "SpaceOffer": ".space_offer",
    "SpaceOfferDefinition": ".space_offer_definition",
    "SpaceOfferPage": ".space_offer_page",
    "SpaceType": ".space_type",
    "SpendCap": ".spend_cap",
    "SpendCapChangeRequest": ".spend_cap_change_request",
    "StaffCreditNote": ".staff_credit_note",
    "StaffCreditNoteDetail": ".staff_credit_note_detail",
    "StaffCreditNoteDetailDocument": ".staff_credit_note_detail_document",
    "StaffCreditNotePage": ".staff_credit_note_page",
    "StaffInvoice": ".staff_invoice",
    "StaffInvoiceDetail": ".staff_invoice_detail",
    "StaffInvoiceDetailDocumentType0": ".staff_invoice_detail_document_type_0",
    "StaffInvoicePage": ".staff_invoice_page",
    "StaffPayment": ".staff_payment",
    "StaffPaymentPage": ".staff_payment_page",
    "StaffQuotas": ".staff_quotas",
    "StaffTaxDetails": ".staff_tax_details",
    "StaffTaxIdCheck": ".staff_tax_id_check",
    "StaffTenant": ".staff_tenant",
    "StaffTenantPage": ".staff_tenant_page",
    "StatusEnum": ".status_enum",
    "SteerRequest": ".steer_request",
    "Step": ".step",
    "StepEnum": ".step_enum",
    "SuspensionRequest": ".suspension_request",
    "TaxDetails": ".tax_details",
    "TaxIdCheck": ".tax_id_check",
    "TaxReport": ".tax_report",
    "Tenant": ".tenant",
    "TenantCreateRequest": ".tenant_create_request",
    "TenantDebt": ".tenant_debt",
    "TenantPayment": ".tenant_payment",
    "TenantPaymentPage": ".tenant_payment_page",
    "TenantSeller": ".tenant_seller",
    "TimingRequest": ".timing_request",
    "Token": ".token",
    "TokenCreateRequest": ".token_create_request",
    "TokenPage": ".token_page",
    "TransferRequest": ".transfer_request",
    "Trial": ".trial",
    "Usage": ".usage",
    "UsageTotals": ".usage_totals",
    "UserReading": ".user_reading",
    "VerifyInvoiceFiles": ".verify_invoice_files",
    "VerifyInvoiceStaffFiles": ".verify_invoice_staff_files",
    "Waiting": ".waiting",
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
    "ActionEnum",
    "ActionFailure",
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
    "AgedReceivables",
    "Alarm",
    "AlarmCreateRequest",
    "AlarmPage",
    "ApproveRequest",
    "AuditEvent",
    "AuditEventAfter",
    "AuditEventBefore",
    "AuditEventPage",
    "BackTest",
    "BackTestCreateRequest",
    "BackTestMonth",
    "BackTestMonthPage",
    "BackTestSource",
    "BackTestState",
    "BackTestSum",
    "Balance",
    "Benefits",
    "BillingDetails",
    "BillingDetailsRequest",
    "BlankEnum",
    "BrowseRequest",
    "BucketEnum",
    "BulkAddressesRequest",
    "BulkAddressesRequestItemsItem",
    "BulkAnswer",
    "BulkNamesRequest",
    "BulkResult",
    "BulkResultProblemType0",
    "Caller",
    "Catalog",
    "CatalogDocument",
    "CatalogDraft",
    "CatalogDraftDetail",
    "CatalogDraftPage",
    "CatalogDraftState",
    "CatalogPublishRequest",
    "CatalogVersion",
    "CatalogVersionPage",
    "CategoryEnum",
    "CausedByEnum",
    "CauseEnum",
    "Change",
    "ChangePart",
    "Channel",
    "ChannelCreateRequest",
    "ChannelKind",
    "ChannelPage",
    "Checkout",
    "Choice",
    "ChoicePage",
    "CloseNowRequest",
    "CloseRun",
    "CloseRunAction",
    "CloseRunActionKind",
    "CloseRunCreateRequest",
    "CloseRunDetail",
    "CloseRunDetailStates",
    "CloseRunInvoice",
    "CloseRunInvoicePage",
    "CloseRunPage",
    "Closure",
    "ClosureRequestRequest",
    "ComingVersion",
    "Commitment",
    "CommitmentCreateRequest",
    "CommitmentEndRequest",
    "CommitmentProgress",
    "Condition",
    "Connection",
    "ConnectionsCloseRequest",
    "ConnectionsPage",
    "Cost",
    "Costs",
    "Counter",
    "CounterPage",
    "CounterValues",
    "Coupon",
    "CouponCreateRequest",
    "CouponEndRequest",
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
    "CreditPayBackRequest",
    "CurrencyTotal",
    "Debt",
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
    "Difference",
    "Discount",
    "DiscountEndRequest",
    "Dispute",
    "DisputeStateEnum",
    "DividedLine",
    "DomainsRequest",
    "DraftCreateRequest",
    "Endpoint",
    "Exemption",
    "ExemptionCreateRequest",
    "ExemptionEndRequest",
    "Export",
    "ExportDocument",
    "Failure",
    "Figure",
    "GetCreditNoteDocumentJsonResponse200",
    "GetCreditNoteDocumentJsonStaffResponse200",
    "GetHistoryAddressSpan",
    "GetInvoiceDocumentJsonResponse200",
    "GetInvoiceDocumentJsonStaffResponse200",
    "GetUsageOverTimeMeter",
    "GetUsageOverTimeStep",
    "Grant",
    "GrantRequest",
    "HeldGroup",
    "HeldReason",
    "HeldTenant",
    "History",
    "Hour",
    "HourUsed",
    "IdentityProviderRequest",
    "IdentityProviderRequestGroupRoles",
    "IdentityProviderRequestGroupRolesAdditionalProperty",
    "InstanceConnections",
    "Invitation",
    "InvitationCreateRequest",
    "InvitationPage",
    "Invoice",
    "InvoiceChange",
    "InvoiceDetail",
    "InvoiceDetailDocumentType0",
    "InvoicePage",
    "InvoiceReasonRequest",
    "InvoiceState",
    "JobEnum",
    "Journal",
    "JournalLine",
    "KeptVolumes",
    "KeptVolumesPage",
    "KindEnum",
    "LakehouseRun",
    "LakehouseRunFiles",
    "LakehouseRunPage",
    "LimitsRequest",
    "LineStep",
    "ListAddressesPhase",
    "ListAddressesSort",
    "ListAddressesType",
    "ListAddressPlansAddressType",
    "ListAddressPlansSort",
    "ListAddressPlansSpaceType",
    "ListAlarmsMetric",
    "ListAlarmsSort",
    "ListAllCreditNotesSort",
    "ListAllInvoicesSort",
    "ListAllInvoicesState",
    "ListAllPaymentsSort",
    "ListAllTenantsSort",
    "ListAuditEventsSort",
    "ListBackTestMonthsSort",
    "ListCatalogDraftsSort",
    "ListCatalogDraftsState",
    "ListCatalogVersionsSort",
    "ListCloseRunsSort",
    "ListConnectionsSort",
    "ListCouponsSort",
    "ListCreditMovementsSort",
    "ListCreditMovementsTenantSort",
    "ListCreditNotesSort",
    "ListInvitationsRole",
    "ListInvitationsSort",
    "ListInvoicesCloseRunSort",
    "ListInvoicesCloseRunState",
    "ListInvoicesSort",
    "ListInvoicesState",
    "ListKeptVolumesSort",
    "ListLakehouseRunsJob",
    "ListLakehouseRunsSort",
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
    "ListOverdueInvoicesSort",
    "ListPaymentEventsSort",
    "ListPaymentEventsState",
    "ListPaymentsSort",
    "ListPlansSort",
    "ListQuarantinedSamplesReason",
    "ListQuarantinedSamplesSort",
    "ListReadCountersSort",
    "ListReadSamplesSort",
    "ListRolloutsSort",
    "ListRolloutsState",
    "ListSpacePlansSort",
    "ListSpacePlansSpaceType",
    "ListSpacesPhase",
    "ListSpacesSort",
    "ListSpacesType",
    "ListTenantPaymentsSort",
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
    "Movement",
    "MovementKindEnum",
    "MovementPage",
    "MoveRequest",
    "NewChannel",
    "NewToken",
    "NotificationKind",
    "NotificationKindPage",
    "Offer",
    "OfferDefinition",
    "OfferPage",
    "OpenItem",
    "OpenItems",
    "Operation",
    "OperationPage",
    "OperationsEnum",
    "OperationState",
    "Overdue",
    "OverduePage",
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
    "Paused",
    "PauseRequest",
    "Payment",
    "PaymentCreateRequest",
    "PaymentEvent",
    "PaymentEventPage",
    "PaymentEventStateEnum",
    "PaymentPage",
    "PeriodsWithoutInvoice",
    "PeriodWithoutInvoice",
    "PeriodWithoutInvoiceStateEnum",
    "PermissionsEnum",
    "Pipeline",
    "PlanChoiceRequest",
    "PlanSubscription",
    "Point",
    "Preview",
    "PreviewDocument",
    "Problem",
    "ProblemFields",
    "Progress",
    "Publication",
    "QuarantinedSample",
    "QuarantinedSamplePage",
    "Quota",
    "QuotaPage",
    "RateSum",
    "ReadFromEnum",
    "Reading",
    "ReadingCreateRequest",
    "ReadingFromSamples",
    "ReasonEnum",
    "RedeemRequest",
    "ReductionRequest",
    "Refund",
    "RefundCreateRequest",
    "RefundKindEnum",
    "RefundStateEnum",
    "RegisterAnswerRequest",
    "Release",
    "ReleaseRequest",
    "ReplacementCreateRequest",
    "ReplacementPreview",
    "ReplacementPreviewDocument",
    "ResendRequest",
    "ResourceEnum",
    "ReverseChargeCustomer",
    "Role",
    "Rollout",
    "RolloutState",
    "Sample",
    "SamplePage",
    "SampleValues",
    "SelectedRequest",
    "Seller",
    "SellerChoiceRequest",
    "SellerPage",
    "SendRequest",
    "SendRequestProperties",
    "Series",
    "Session",
    "SetIdentityProviderIfNoneMatch",
    "SetIdentityProviderTenantIfNoneMatch",
    "SetSpendCapIfNoneMatch",
    "SeverityEnum",
    "ShownProvider",
    "ShownProviderGroupRoles",
    "Side",
    "SignedUp",
    "SignupRequest",
    "SimulatedDay",
    "Simulation",
    "SimulationAffected",
    "Skipped",
    "SpaceOffer",
    "SpaceOfferDefinition",
    "SpaceOfferPage",
    "SpaceType",
    "SpendCap",
    "SpendCapChangeRequest",
    "StaffCreditNote",
    "StaffCreditNoteDetail",
    "StaffCreditNoteDetailDocument",
    "StaffCreditNotePage",
    "StaffInvoice",
    "StaffInvoiceDetail",
    "StaffInvoiceDetailDocumentType0",
    "StaffInvoicePage",
    "StaffPayment",
    "StaffPaymentPage",
    "StaffQuotas",
    "StaffTaxDetails",
    "StaffTaxIdCheck",
    "StaffTenant",
    "StaffTenantPage",
    "StatusEnum",
    "SteerRequest",
    "Step",
    "StepEnum",
    "SuspensionRequest",
    "TaxDetails",
    "TaxIdCheck",
    "TaxReport",
    "Tenant",
    "TenantCreateRequest",
    "TenantDebt",
    "TenantPayment",
    "TenantPaymentPage",
    "TenantSeller",
    "TimingRequest",
    "Token",
    "TokenCreateRequest",
    "TokenPage",
    "TransferRequest",
    "Trial",
    "Usage",
    "UsageTotals",
    "UserReading",
    "VerifyInvoiceFiles",
    "VerifyInvoiceStaffFiles",
    "Waiting",
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
