"""The registry of services for chats and pagers to which a channel may send, through Apprise.

The registry has only services with fixed hosts, which Waypost calls by https. So a tenant chooses
an account at such a service, and never a host. URLs have Apprise's form, without a query: a query
could name files and other hosts. The one exception is the region of a service that has several.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from controlplane.core.errors import Invalid


@dataclass(frozen=True)
class ChatService:
    """One service: Apprise's ``schema``, its name, the hosts it is at, and the form of a URL.

    ``options`` are what Waypost adds to the URL for Apprise; ``{incident}`` is the incident's key.
    ``regions`` are {region: host} of the other regions, which a URL names: ``?region=eu``.
    """

    schema: str
    title: str
    hosts: tuple[str, ...]
    form: str
    options: str = ""
    regions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ChatTarget:
    """Where one URL goes: its service, its region (empty: the service's own), and ``account_url``.

    ``account_url`` is the URL without its region.
    """

    service: ChatService
    account_url: str
    region: str = ""

    @property
    def title(self) -> str:
        """The service for people, such as ``PagerDuty (EU)``."""
        name = self.service.title
        return f"{name} ({self.region.upper()})" if self.region else name

    @property
    def hosts(self) -> tuple[str, ...]:
        return (self.service.regions[self.region],) if self.region else self.service.hosts

    def apprise_url(self, incident: str) -> str:
        """Return the URL for Apprise, for an event of the incident with this key."""
        options = self.service.options.format(incident=incident)
        if not self.region:
            return self.account_url + options
        return f"{self.account_url}{options}{'&' if options else '?'}region={self.region}"


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
        "?action=map&dedup={incident}",  # an event that ends an incident resolves it
        {"eu": "events.eu.pagerduty.com"},
    ),
    ChatService(
        "opsgenie",
        "Opsgenie",
        ("api.opsgenie.com",),
        "opsgenie://ApiKey",
        # By default Apprise adds a note for a harmless event, and sends nothing where no alert of
        # this process is open.
        "?action=new",
        {"eu": "api.eu.opsgenie.com"},
    ),
)
BY_SCHEMA = {service.schema: service for service in REGISTRY}
_OWN_REGION = "us"  # of each service that has several
_LONGEST = 1000  # characters of a URL


class ChatRefused(Invalid):
    """The URL of a chat or pager is not one that Waypost sends to; the message says why."""

    code = "chat_url.refused"


def check(url: str) -> ChatTarget:
    """Return where a URL goes.

    Raises:
        ChatRefused: there is no such service or region, or the URL has another query or a fragment.
    """
    account_url, asked, query = url.partition("?")
    schema, separator, rest = account_url.partition("://")
    service = BY_SCHEMA.get(schema.lower())
    region = query.removeprefix("region=").lower()
    if service is None or not separator or not rest.strip("/"):
        forms = ", ".join(service.form for service in REGISTRY)
        problem = f"Write the URL like one of these: {forms}."
    elif len(url) > _LONGEST or not url.isprintable() or set(account_url) & set("#&; \\"):
        problem = "The URL must have at most 1,000 characters, no spaces and no query."
    elif not asked or (service.regions and query.lower() == f"region={_OWN_REGION}"):
        return ChatTarget(service, account_url)
    elif query.startswith("region=") and region in service.regions:
        return ChatTarget(service, account_url, region)
    else:
        regions = "".join(f" but ?region={region}" for region in service.regions)
        problem = f"The URL must have no query{regions}."
    raise ChatRefused(problem, url=[problem])
