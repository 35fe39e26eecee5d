"""The registry of services for chats and pagers to which a channel may send, through Apprise.

Only services that run at hosts of their own are in it, and each of them only by https. So a tenant
chooses an account there, and never a host. URLs have Apprise's form, without a query: a query could
name files and other hosts.
"""

from dataclasses import dataclass

from controlplane.core.errors import Invalid


@dataclass(frozen=True)
class ChatService:
    """One service: Apprise's ``schema``, its name, the hosts it is at, and the form of a URL."""

    schema: str
    title: str
    hosts: tuple[str, ...]
    form: str


REGISTRY = (
    ChatService("slack", "Slack", ("hooks.slack.com",), "slack://TokenA/TokenB/TokenC"),
    ChatService("discord", "Discord", ("discord.com",), "discord://WebhookID/WebhookToken"),
    ChatService(
        "gchat",
        "Google Chat",
        ("chat.googleapis.com",),
        "gchat://Workspace/WebhookKey/WebhookToken",
    ),
    ChatService("wxteams", "Webex", ("api.ciscospark.com", "webexapis.com"), "wxteams://Token"),
    ChatService("tgram", "Telegram", ("api.telegram.org",), "tgram://BotToken/ChatID"),
    ChatService("pover", "Pushover", ("api.pushover.net",), "pover://UserKey@Token"),
    ChatService(
        "pagerduty",
        "PagerDuty",
        ("events.pagerduty.com",),
        "pagerduty://IntegrationKey@ApiKey",
    ),
    ChatService("opsgenie", "Opsgenie", ("api.opsgenie.com",), "opsgenie://ApiKey"),
)
BY_SCHEMA = {service.schema: service for service in REGISTRY}
_LONGEST = 1000


class ChatRefused(Invalid):
    """The URL of a chat or pager is not one that Waypost sends to; the message says why."""

    code = "chat_url.refused"


def check(url: str) -> ChatService:
    """Return the service of a URL.

    Raises:
        ChatRefused: there is no such service, or the URL has a query or a fragment.
    """
    schema, separator, rest = url.partition("://")
    service = BY_SCHEMA.get(schema.lower())
    if service is None or not separator or not rest.strip("/"):
        forms = ", ".join(service.form for service in REGISTRY)
        problem = f"Write the URL like one of these: {forms}."
    elif len(url) > _LONGEST or not url.isprintable() or set(url) & set("?#&; \\"):
        problem = "The URL must have at most 1,000 characters, no spaces and no query."
    else:
        return service
    raise ChatRefused(problem, url=[problem])
