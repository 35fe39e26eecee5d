from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.problem_fields import ProblemFields


T = TypeVar("T", bound="Problem")


@_attrs_define
class Problem:
    """An error (RFC 9457). Compare `code`; show `detail` to people. Some codes have members of their own beside those
    listed, such as `resource` and `limit` of `quota_exceeded`, or `incident` of `internal`.

    * `account_codes.invalid` (422): The codes of accounts are not valid
    * `address.exists` (409): The space has this address already
    * `address.fixed_at_creation` (409): Type, plan and topic of an address cannot change
    * `address.in_use` (409): Other addresses need this one
    * `address.invalid` (422): The address is not valid
    * `address.missing` (404): There is no such address
    * `address.plan_mismatch` (422): The plan is for another kind of address
    * `address.terminating` (409): The address is being deleted
    * `address.type_not_offered` (422): The space does not offer this type
    * `address_plan.not_included` (403): Your plan does not include this address plan
    * `address_plan.unknown` (422): There is no such address plan
    * `address_space.configuration_full` (409): The files of the space are full
    * `address_space.exists` (409): You have a space of this name already
    * `address_space.invalid` (422): The space is not valid
    * `address_space.missing` (404): There is no such space
    * `address_space.plan_mismatch` (422): The plan is for another type of space
    * `address_space.terminating` (409): The space is being deleted
    * `alarm.exists` (409): The address has this alarm already
    * `alarm.invalid` (422): The alarm is not valid
    * `alarm.missing` (404): There is no such alarm
    * `alarm.too_many` (409): The address has too many alarms
    * `api_token.exists` (409): A token of this name exists already
    * `api_token.invalid` (422): The token is not valid
    * `api_token.missing` (404): There is no such token
    * `api_token.out_of_scope` (403): The token is limited
    * `back_test.catalog_changed` (409): Another catalog was published meanwhile
    * `back_test.missing` (404): There is no such back-test
    * `back_test.no_gold` (409): There is no usage in the lakehouse yet
    * `billing_details.invalid` (422): The billing details are not valid
    * `billing_details.missing` (409): The billing details are not complete
    * `budget.invalid` (422): The budget is not valid
    * `cache.unavailable` (503): Attempts cannot be counted
    * `catalog.already_scheduled` (409): Another catalog is scheduled
    * `catalog.currency` (422): The catalog has another currency
    * `catalog.draft_missing` (404): There is no such draft of a catalog
    * `catalog.draft_state` (409): The draft is in another state
    * `catalog.invalid` (422): The catalog is not valid
    * `catalog.missing` (404): No catalog is published
    * `catalog.seller_in_use` (409): The catalog lacks a seller or currency of tenants
    * `channel.disabled` (409): The channel is disabled
    * `channel.exists` (409): There is a channel of this name already
    * `channel.invalid` (422): The channel is not valid
    * `channel.missing` (404): There is no such channel
    * `channel.no_secret` (409): The channel has no secret
    * `channel.too_many` (409): The tenant has too many channels
    * `chat_url.refused` (422): Waypost does not send to this chat
    * `close_run.action_running` (409): Invoices of the run are being changed
    * `close_run.nothing_to_close` (409): No period is due
    * `close_run.nothing_to_do` (409): No invoice of the run is in the state for this
    * `commitment.end` (422): The commitment cannot end then
    * `commitment.invalid` (422): The commitment is not valid
    * `commitment.missing` (404): There is no such commitment
    * `conflict` (409): Not possible now
    * `connections.invalid` (422): The request names no connections
    * `connections.missing` (404): The connections have ended
    * `coupon.code` (422): The code of the coupon is empty or taken
    * `coupon.currency` (409): The coupon is in another currency
    * `coupon.currency_unknown` (422): No seller sells in the currency
    * `coupon.missing` (404): There is no such coupon
    * `coupon.redeemed` (409): The coupon was redeemed before
    * `coupon.used_up` (409): The coupon cannot be redeemed any more
    * `credentials.invalid` (401): The login or token is not valid
    * `credentials.missing` (401): Log in or send a token
    * `credit_grant.invalid` (422): The credit is not valid
    * `credit_grant.missing` (404): There is no such credit
    * `credit_grant.not_prepaid` (409): Only prepaid credit is paid back
    * `credit_grant.reference_reused` (409): The reference belongs to another grant
    * `credit_grant.too_much` (409): Less than that is left of the credit
    * `credit_note.lines` (422): The lines of the credit note are not valid
    * `credit_note.nothing_left` (409): Nothing of the invoice is left
    * `credit_note.reason` (422): The credit note has no reason
    * `credit_note.too_much` (409): Less than that is left of the invoice
    * `currency.unknown` (422): There is no such currency
    * `cursor.invalid` (400): The page cursor is not valid
    * `database.deadlock` (503): Two changes met in the database
    * `database.unavailable` (503): The database does not answer
    * `dead_letters.not_included` (403): Your plan includes no dead letters
    * `delivery.missing` (404): There is no such delivery
    * `denied` (403): Not allowed
    * `discount.invalid` (422): The discount is not valid
    * `discount.missing` (404): There is no such discount
    * `dunning.not_paused` (409): Dunning of the tenant is not paused
    * `dunning.reason` (422): The pause has no reason
    * `dunning.until` (422): The pause must end later
    * `events.too_many` (429): Too many event streams
    * `export.parquet_unavailable` (503): Parquet is not available on this server
    * `export.too_large` (422): The window has too many rows
    * `generation.changed` (412): Changed by someone else since you read it
    * `history.span_unknown` (422): There is no history of this span
    * `idempotency_key.invalid` (400): The Idempotency-Key is not valid
    * `idempotency_key.reused` (409): The Idempotency-Key was used for another request
    * `identity.taken` (409): The identity or the account is linked to another one
    * `identity_provider.domain_taken` (409): Another tenant has the domain
    * `identity_provider.domains_changed` (409): The domains are others by now
    * `identity_provider.invalid` (503): The identity provider is not usable
    * `identity_provider.missing` (404): The organization has no identity provider
    * `identity_provider.refused` (422): The identity provider is not valid
    * `identity_provider.unavailable` (503): The identity provider does not answer
    * `if_match.malformed` (400): If-Match or If-None-Match could not be read
    * `if_match.missing` (428): Say which state you change, by If-Match
    * `internal` (500): Something went wrong on our side
    * `invalid` (422): The request is not valid
    * `invitation.exists` (409): The address is invited already
    * `invitation.missing` (404): There is no such invitation
    * `invitation.other_address` (403): The invitation is for another address
    * `invoice.correction_not_read` (409): A month that the invoice corrects was not read
    * `invoice.crosses_month` (422): The period crosses a month
    * `invoice.currencies_differ` (409): The invoices have different currencies
    * `invoice.earlier_open` (409): An earlier invoice of the month is open or has changed
    * `invoice.engine_unknown` (409): Another version of Waypost made the invoice
    * `invoice.evidence_outdated` (409): Usage changed during the close
    * `invoice.line_without_usage` (409): The line does not come from usage of a time
    * `invoice.month` (422): The month does not name one invoice
    * `invoice.no_document` (409): The invoice has no document yet
    * `invoice.no_plan` (409): The tenant had no plan in the period
    * `invoice.not_en16931` (409): The document lacks what EN 16931 demands
    * `invoice.not_in_period` (422): The part is not inside the invoice's period
    * `invoice.not_releasable` (409): Nothing of the invoice can be released
    * `invoice.pdf_unavailable` (503): PDF is not available on this server
    * `invoice.period_overlaps` (409): Another invoice covers part of the period
    * `invoice.replacement_changed` (409): The replacement is not the confirmed one
    * `invoice.too_early` (409): The period cannot be closed yet
    * `invoice.too_many_readings` (409): Too many parts of invoices are being read
    * `invoice.wrong_state` (409): The invoice is in another state
    * `kept_volumes.missing` (404): No volumes are kept for such a space
    * `labels.invalid` (422): The labels are not valid
    * `ledger.busy` (503): The ledger is being written
    * `ledger.not_balanced` (409): The booking does not balance
    * `ledger.reference_reused` (409): The booking's reference is in use
    * `local_accounts.disabled` (403): Password login is disabled
    * `login.email_not_confirmed` (403): The email address is not confirmed
    * `login.no_device` (403): There is no login by device
    * `login.refused` (403): The login is refused
    * `login.second_factor_needed` (403): The login needs a second factor
    * `login.token_refused` (403): The identity provider's token is not valid here
    * `maintenance_window.invalid` (422): The maintenance windows are not valid
    * `membership.belongs_elsewhere` (409): The account belongs to another organization
    * `membership.exists` (409): The person is a member already
    * `membership.invalid` (422): The membership is not valid
    * `membership.last_owner` (409): A tenant needs an owner
    * `membership.missing` (404): The person is not a member
    * `membership.no_account` (404): There is no account with this email
    * `message_request.missing` (404): There is no such page of messages
    * `message_request.not_stored` (422): The address has no messages of this kind
    * `message_request.running` (409): Messages of the address are being changed
    * `message_request.send_withdrawn` (409): Nobody may send in the space now
    * `messaging_user.exists` (409): The space has a user of this name
    * `messaging_user.invalid` (422): The messaging user is not valid
    * `messaging_user.missing` (404): There is no such messaging user
    * `messaging_user.terminating` (409): The messaging user is being revoked
    * `missing` (404): Not found
    * `notification_kind.denied` (403): Events that you may not see
    * `operation.missing` (404): There is no such operation
    * `payment.amount` (422): The amount of the payment is not valid
    * `payment.currency` (409): The provider does not take the invoice's currency
    * `payment.exceeds_invoice` (409): The payment is more than what is due
    * `payment.missing` (404): There is no such payment
    * `payment.no_checkout` (409): There is no page to pay on
    * `payment.nothing_due` (409): Nothing of the invoice is due
    * `payment.provider_away` (503): The payment provider does not answer
    * `payment.provider_refuses` (409): The payment provider has refused it
    * `payment.reference_reused` (409): The reference belongs to another payment
    * `payment_event.changed` (409): The event says something else than before
    * `payment_event.signature` (400): The event is not signed as it must be
    * `period.backward` (422): The period must end after it begins
    * `period.naive` (422): The instants need a time zone
    * `period.time_zone` (422): There is no such time zone
    * `plan.not_priced` (409): The plan has no prices in the currency
    * `plan.unknown` (422): There is no such plan
    * `plan_subscription.lacks_plans` (409): The plan lacks what the tenant uses
    * `plan_subscription.missing` (409): The tenant has no plan
    * `preference.invalid` (422): The preferences are not valid
    * `query.unknown` (422): There is no such query parameter
    * `quota_exceeded` (403): Over a limit
    * `quota_override.invalid` (422): The override is not valid
    * `quota_override.missing` (404): The limit is not overridden
    * `rate_limited` (429): Too many requests
    * `refund.amount` (422): The refund is not valid
    * `refund.changed` (409): Another refund of the payment was made meanwhile
    * `refund.exceeds_payment` (409): Less than that is left of the payment
    * `refund.needs_credit` (409): The tenant has too little credit for the refund
    * `refund.reference` (422): The refund needs the bank's reference
    * `refund.reference_reused` (409): The reference belongs to another refund
    * `refund.settled` (409): What the refund made due again is paid
    * `report.day` (422): The day of the report is not valid
    * `report.months` (422): The months of the report are not valid
    * `request.invalid` (422): Some fields are not valid
    * `request.malformed` (400): The request could not be read
    * `request.media_type_unsupported` (415): Only application/json is accepted
    * `request.method_not_allowed` (405): This method is not allowed here
    * `request.timeout` (408): The request was not complete in time
    * `request.too_large` (413): The request is too large
    * `rollout.not_possible` (409): The state of the rollout does not allow this
    * `secret.key_missing` (503): A key of this server is missing
    * `seller.fixed` (409): The seller of the tenant is fixed
    * `seller.unknown` (422): There is no such seller
    * `session.tenant_token` (409): A tenant's token is not a person's session
    * `signup.disabled` (403): Signup is disabled
    * `signup.email_taken` (409): There is an account with this email
    * `signup.invalid` (422): The signup is not valid
    * `space_plan.not_included` (403): Your plan does not include this space plan
    * `space_plan.storage_differs` (409): The brokers' volumes cannot change like that
    * `space_plan.too_small` (409): The plan cannot hold what is in the space
    * `space_plan.unknown` (422): There is no such space plan
    * `space_type.not_offered` (403): The installation cannot run this type of space
    * `spend_cap.invalid` (422): The spend cap is not valid
    * `spend_cap.missing` (404): There is no spend cap
    * `support_access.invalid` (422): The consent or its reason is not valid
    * `support_access.no_consent` (403): The tenant does not allow it now
    * `tax.no_rate` (422): The table of VAT rates lacks a country
    * `tax_exemption.end` (422): The exemption cannot end then
    * `tax_exemption.invalid` (422): The exemption is not valid
    * `tax_exemption.missing` (404): There is no such exemption
    * `tax_id.not_valid` (409): The tax id has no valid form
    * `tenant.closing` (403): The organization is being closed
    * `tenant.reason_invalid` (422): The reason is not valid
    * `tenant.suspended` (403): The organization is suspended
    * `tenant.unpaid` (403): Invoices of the organization are unpaid
    * `tenant.wrong_state` (409): The state of the tenant does not allow this
    * `tenant_note.invalid` (422): The note is empty or too long
    * `tenant_note.missing` (404): There is no such note
    * `terms.billed` (409): An invoice was priced with it
    * `unavailable` (503): Not available at the moment
    * `url.refused` (422): Waypost does not call this URL
    * `usage.cell_outside_days` (422): A usage cell lies outside its days
    * `usage.copy_older` (409): A newer copy of the usage exists
    * `usage.series` (422): There is no such usage series
    * `user.missing` (404): There is no such account

        Attributes:
            type_ (str):
            title (str):
            status (int):
            detail (str): What happened and what to do next, for people.
            instance (str): The requested path.
            code (str): Stable; listed above.
            fields (ProblemFields): Field of the request -> reasons.
    """

    type_: str
    title: str
    status: int
    detail: str
    instance: str
    code: str
    fields: ProblemFields
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        title = self.title

        status = self.status

        detail = self.detail

        instance = self.instance

        code = self.code

        fields = self.fields.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
                "title": title,
                "status": status,
                "detail": detail,
                "instance": instance,
                "code": code,
                "fields": fields,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.problem_fields import ProblemFields  # noqa: PLC0415

        d = dict(src_dict)
        type_ = d.pop("type")

        title = d.pop("title")

        status = d.pop("status")

        detail = d.pop("detail")

        instance = d.pop("instance")

        code = d.pop("code")

        fields = ProblemFields.from_dict(d.pop("fields"))

        problem = cls(
            type_=type_,
            title=title,
            status=status,
            detail=detail,
            instance=instance,
            code=code,
            fields=fields,
        )

        problem.additional_properties = d
        return problem

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
