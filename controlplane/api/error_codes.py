"""Every code of an HTTP error answer of the API, with its HTTP status and title.

The codes of failed operations (``error_code``) are not listed. A test searches the API, the core,
``tenants`` and ``plans`` for codes, and fails if one is not listed here. The API serves the list at
/api/v1/problems, and the OpenAPI document contains it.
"""

from http import HTTPStatus
from typing import NamedTuple


class ErrorCode(NamedTuple):
    """A value: a stable error code, its HTTP status, and a short title for people."""

    code: str
    status: int
    title: str


# Clients compare codes, so a code never changes; titles may. Sorted by code.
CODES: tuple[ErrorCode, ...] = (
    ErrorCode("address.exists", 409, "The space has this address already"),
    ErrorCode("address.fixed_at_creation", 409, "Type, plan and topic of an address cannot change"),
    ErrorCode("address.in_use", 409, "Other addresses need this one"),
    ErrorCode("address.invalid", 400, "The address is not valid"),
    ErrorCode("address.missing", 404, "There is no such address"),
    ErrorCode("address.plan_mismatch", 400, "The plan is for another kind of address"),
    ErrorCode("address.terminating", 409, "The address is being deleted"),
    ErrorCode("address.type_not_offered", 400, "The space does not offer this type"),
    ErrorCode("address_plan.not_included", 403, "Your plan does not include this address plan"),
    ErrorCode("address_plan.unknown", 404, "There is no such address plan"),
    ErrorCode("address_space.configuration_full", 409, "The files of the space are full"),
    ErrorCode("address_space.exists", 409, "You have a space of this name already"),
    ErrorCode("address_space.invalid", 400, "The space is not valid"),
    ErrorCode("address_space.missing", 404, "There is no such space"),
    ErrorCode("address_space.plan_mismatch", 400, "The plan is for another type of space"),
    ErrorCode("address_space.terminating", 409, "The space is being deleted"),
    ErrorCode("alarm.exists", 409, "The address has this alarm already"),
    ErrorCode("alarm.invalid", 400, "The alarm is not valid"),
    ErrorCode("alarm.missing", 404, "There is no such alarm"),
    ErrorCode("alarm.too_many", 409, "The address has too many alarms"),
    ErrorCode("api_token.exists", 409, "A token of this name exists already"),
    ErrorCode("api_token.invalid", 400, "The token is not valid"),
    ErrorCode("api_token.missing", 404, "There is no such token"),
    ErrorCode("billing_details.invalid", 400, "The billing details are not valid"),
    ErrorCode("budget.invalid", 400, "The budget is not valid"),
    ErrorCode("catalog.invalid", 400, "The catalog is not valid"),
    ErrorCode("catalog.missing", 404, "No catalog is published"),
    ErrorCode("channel.disabled", 409, "The channel is disabled"),
    ErrorCode("channel.exists", 409, "There is a channel of this name already"),
    ErrorCode("channel.invalid", 400, "The channel is not valid"),
    ErrorCode("channel.missing", 404, "There is no such channel"),
    ErrorCode("channel.too_many", 409, "The tenant has too many channels"),
    ErrorCode("chat_url.refused", 400, "Waypost does not send to this chat"),
    ErrorCode("conflict", 409, "Not possible now"),
    ErrorCode("connections.invalid", 400, "The request names no connections"),
    ErrorCode("connections.missing", 404, "The connections have ended"),
    ErrorCode("credentials.invalid", 401, "The login or token is not valid"),
    ErrorCode("credentials.missing", 401, "Log in or send a token"),
    ErrorCode("currency.unknown", 400, "There is no such currency"),
    ErrorCode("cursor.invalid", 400, "The page cursor is not valid"),
    ErrorCode("database.unavailable", 503, "The database does not answer"),
    ErrorCode("dead_letters.not_included", 403, "Your plan includes no dead letters"),
    ErrorCode("delivery.missing", 404, "There is no such delivery"),
    ErrorCode("denied", 403, "Not allowed"),
    ErrorCode("events.too_many", 429, "Too many event streams"),
    ErrorCode("generation.changed", 412, "Changed by someone else since you read it"),
    ErrorCode("history.span_unknown", 400, "There is no history of this span"),
    ErrorCode("idempotency_key.invalid", 400, "The Idempotency-Key is not valid"),
    ErrorCode("idempotency_key.reused", 409, "The Idempotency-Key was used for another request"),
    ErrorCode("internal", 500, "Something went wrong on our side"),
    ErrorCode("invalid", 400, "The request is not valid"),
    ErrorCode("invoice.crosses_month", 400, "The period crosses a month"),
    ErrorCode(
        "invoice.earlier_open", 409, "An earlier invoice of the month is open or has changed"
    ),
    ErrorCode("invoice.no_document", 409, "The invoice has no document yet"),
    ErrorCode("invoice.no_plan", 409, "The tenant had no plan in the period"),
    ErrorCode("invoice.pdf_unavailable", 503, "PDF is not available on this server"),
    ErrorCode("invoice.period_overlaps", 409, "Another invoice covers part of the period"),
    ErrorCode("invoice.too_early", 409, "The period cannot be closed yet"),
    ErrorCode("invoice.wrong_state", 409, "The invoice is in another state"),
    ErrorCode("kept_volumes.missing", 404, "No volumes are kept for such a space"),
    ErrorCode("ledger.not_balanced", 409, "The booking does not balance"),
    ErrorCode("ledger.reference_reused", 409, "The booking's reference is in use"),
    ErrorCode("local_accounts.disabled", 403, "Password login is disabled"),
    ErrorCode("maintenance_window.invalid", 400, "The maintenance windows are not valid"),
    ErrorCode("membership.exists", 409, "The person is a member already"),
    ErrorCode("membership.invalid", 400, "The membership is not valid"),
    ErrorCode("membership.last_owner", 409, "A tenant needs an owner"),
    ErrorCode("membership.missing", 404, "The person is not a member"),
    ErrorCode("membership.no_account", 404, "There is no account with this email"),
    ErrorCode("message_request.missing", 404, "There is no such page of messages"),
    ErrorCode("message_request.not_stored", 400, "The address has no messages of this kind"),
    ErrorCode("message_request.running", 409, "Messages of the address are being changed"),
    ErrorCode("message_request.send_withdrawn", 409, "The space may not send: a quota is used up"),
    ErrorCode("messaging_user.exists", 409, "The space has a user of this name"),
    ErrorCode("messaging_user.invalid", 400, "The messaging user is not valid"),
    ErrorCode("messaging_user.missing", 404, "There is no such messaging user"),
    ErrorCode("messaging_user.terminating", 409, "The messaging user is being revoked"),
    ErrorCode("missing", 404, "Not found"),
    ErrorCode("operation.missing", 404, "There is no such operation"),
    ErrorCode("payment.amount", 400, "The amount of the payment is not valid"),
    ErrorCode("payment.exceeds_invoice", 409, "The payment is more than what is due"),
    ErrorCode("payment.reference_reused", 409, "The reference belongs to another payment"),
    ErrorCode("period.backward", 400, "The period must end after it begins"),
    ErrorCode("period.naive", 400, "The instants need a time zone"),
    ErrorCode("period.time_zone", 400, "There is no such time zone"),
    ErrorCode("plan.unknown", 404, "There is no such plan"),
    ErrorCode("plan_subscription.lacks_plans", 409, "The plan lacks what the tenant uses"),
    ErrorCode("plan_subscription.missing", 409, "The tenant has no plan"),
    ErrorCode("preference.invalid", 400, "The preferences are not valid"),
    ErrorCode("quota_exceeded", 403, "Over a limit"),
    ErrorCode("quota_override.invalid", 400, "The override is not valid"),
    ErrorCode("rate_limited", 429, "Too many requests"),
    ErrorCode("request.invalid", 400, "Some fields are not valid"),
    ErrorCode("request.malformed", 400, "The request could not be read"),
    ErrorCode("request.media_type_unsupported", 415, "Only application/json is accepted"),
    ErrorCode("request.method_not_allowed", 405, "This method is not allowed here"),
    ErrorCode("request.timeout", 408, "The request was not complete in time"),
    ErrorCode("request.too_large", 413, "The request is too large"),
    ErrorCode("rollout.not_possible", 409, "The state of the rollout does not allow this"),
    ErrorCode("secret.key_missing", 503, "A key of this server is missing"),
    ErrorCode("session.tenant_token", 409, "A tenant's token is not a person's session"),
    ErrorCode("signup.disabled", 403, "Signup is disabled"),
    ErrorCode("signup.email_taken", 409, "There is an account with this email"),
    ErrorCode("signup.invalid", 400, "The signup is not valid"),
    ErrorCode("space_plan.not_included", 403, "Your plan does not include this space plan"),
    ErrorCode("space_plan.storage_differs", 409, "The brokers' volumes cannot change like that"),
    ErrorCode("space_plan.too_small", 409, "The plan cannot hold what is in the space"),
    ErrorCode("space_plan.unknown", 404, "There is no such space plan"),
    ErrorCode("space_type.not_offered", 403, "The installation cannot run this type of space"),
    ErrorCode("unavailable", 503, "Not available at the moment"),
    ErrorCode("url.refused", 400, "Waypost does not call this URL"),
    ErrorCode("usage.cell_outside_days", 400, "A usage cell lies outside its days"),
    ErrorCode("usage.copy_older", 409, "A newer copy of the usage exists"),
    ErrorCode("usage.series", 400, "There is no such usage series"),
)

_BY_CODE = {entry.code: entry for entry in CODES}


def title(code: str, status: int) -> str:
    """Return the title of ``code``, or the HTTP phrase of ``status`` if the code is not listed."""
    entry = _BY_CODE.get(code)
    return entry.title if entry else HTTPStatus(status).phrase
