"""All files of one broker, rendered from desired values. Pure; called by the brokers step.

The login modules and the property files they reload: Artemis user manual, "Security".
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from workers.messaging import certificates
from workers.messaging.brokers import broker_xml, desired, permissions
from workers.messaging.brokers.desired import DesiredBroker, Place
from workers.messaging.certificates import KeyPair

LIVE_FILES = frozenset(
    {
        "broker.xml",
        "users.properties",
        "roles.properties",
        "certificate-users.properties",
        "certificate-roles.properties",
        "server.key",
        "server.pem",
        "server.pemcfg",
        "public.key",
        "public.pem",
        "public.pemcfg",
        "authority.pem",
    }
)
SECRET_FILES = frozenset({"users.properties", "server.key", "public.key"})

_MODULES = "org.apache.activemq.artemis.spi.core.security.jaas"
_LOGIN = f"""\
activemq {{
   {_MODULES}.PropertiesLoginModule required
       reload=true
       org.apache.activemq.jaas.properties.user="users.properties"
       org.apache.activemq.jaas.properties.role="roles.properties";
}};
certificate {{
   {_MODULES}.TextFileCertificateLoginModule required
       reload=true
       org.apache.activemq.jaas.textfiledn.user="certificate-users.properties"
       org.apache.activemq.jaas.textfiledn.role="certificate-roles.properties";
}};
"""
# AMQ222165 and AMQ222166 warn of each queue without a dead-letter or expiry address. Addresses of
# tenants have one if they ask for it, and our own replies to management never do.
_LOG = """\
rootLogger.level = WARN
rootLogger.appenderRef.console.ref = console
logger.audit.name = org.apache.activemq.audit
logger.audit.level = OFF
logger.server.name = org.apache.activemq.artemis.core.server
logger.server.level = INFO
logger.server.filter.undelivered.type = RegexFilter
logger.server.filter.undelivered.regex = AMQ22216[56]:.*
logger.server.filter.undelivered.onMatch = DENY
logger.server.filter.undelivered.onMismatch = NEUTRAL
appender.console.type = Console
appender.console.name = console
appender.console.place.type = PatternLayout
appender.console.place.pattern = %d %-5level [%logger] %msg%n
"""
# Empty lists are refused at start, so the file names what nobody has.
_MANAGEMENT = """\
<management-context xmlns="http://activemq.apache.org/schema">
  <authorisation>
    <allowlist><entry domain="hawtio"/></allowlist>
    <default-access><access method="*" roles="nobody"/></default-access>
    <role-access>
      <match domain="org.apache.activemq.artemis"><access method="*" roles="nobody"/></match>
    </role-access>
  </authorisation>
</management-context>
"""
_BOOTSTRAP = """\
<!-- configuration template {revision} -->
<broker xmlns="http://activemq.apache.org/schema">
  <jaas-security domain="activemq" certificate-domain="certificate"/>
  <server configuration="file:{config_dir}/broker.xml"/>
</broker>
"""


def files(broker: DesiredBroker, place: Place) -> Mapping[str, str]:
    """Return every file of the broker: path in its configuration folder -> text."""
    return {
        "broker.xml": broker_xml.render(broker, place),
        "bootstrap.xml": _bootstrap(broker, place),
        "login.config": _LOGIN,
        "management.xml": _MANAGEMENT,
        "log4j2.properties": _LOG,
        **_key_pair("server", broker.server, place),
        **(_key_pair("public", broker.presented, place) if broker.presented else {}),
        "authority.pem": broker.authority_pem,
        **_identities(broker),
    }


def properties(entries: Mapping[str, str]) -> str:
    """Return a Java properties file; nothing in a key or value can end or add a line.

    Source: java.util.Properties.load, "character encoding and escapes".
    """
    lines = [f"{_escaped(key)} = {_escaped(value)}" for key, value in sorted(entries.items())]
    return "".join(f"{line}\n" for line in lines)


def _key_pair(name: str, pair: KeyPair, place: Place) -> Mapping[str, str]:
    """Return a key pair's files, with the one that a listener names (key store type PEMCFG)."""
    return {
        f"{name}.key": pair.key_pem,
        f"{name}.pem": pair.certificate_pem,
        f"{name}.pemcfg": f"source.key={place.config_dir}/{name}.key\n"
        f"source.cert={place.config_dir}/{name}.pem\n",
    }


def _identities(broker: DesiredBroker) -> Mapping[str, str]:
    users = broker.users if broker.public else ()
    names = {desired.CONTROL_NAME: desired.INTERNAL_ROLE, desired.ROUTER_NAME: desired.ROUTER_ROLE}
    plain = {
        user.name: str(user.verifiers["artemis"]) for user in users if "artemis" in user.verifiers
    }
    return {
        "users.properties": properties(plain),
        "roles.properties": properties({permissions.role(user.name): user.name for user in users}),
        "certificate-users.properties": properties(
            {name: certificates.distinguished_name(name) for name in names}
        ),
        "certificate-roles.properties": properties({role: name for name, role in names.items()}),
    }


def _bootstrap(broker: DesiredBroker, place: Place) -> str:
    """Carry the digest of what broker.xml says for any tenant: a change of that needs a restart."""
    bare = replace(broker, addresses=(), users=(), send_withdrawn=False)
    digest = hashlib.sha256((broker_xml.render(bare, place) + _LOGIN).encode()).hexdigest()
    return _BOOTSTRAP.format(revision=digest[:16], config_dir=place.config_dir)


def _escaped(text: str) -> str:
    return "".join(_escaped_character(character) for character in text)


def _escaped_character(character: str) -> str:
    if character.isascii() and (character.isalnum() or character in "._-@/+()|,"):
        return character
    units = character.encode("utf-16-be")
    pairs: Sequence[bytes] = [units[i : i + 2] for i in range(0, len(units), 2)]
    return "".join(f"\\u{pair.hex()}" for pair in pairs)
