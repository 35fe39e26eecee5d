"""Render all files of one broker from desired values. Pure.

Whoever starts or reconfigures a broker writes these files: the reconcile steps (through
``desired_brokers.spec``), ``workers.broker_archive`` and the benchmark. ``rollouts.release``
renders them without tenants' data, only to hash those that need a restart. Source of the login
modules and the property files that they reload: Artemis user manual, "Security".
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace

from workers.messaging import certificates
from workers.messaging.brokers import broker_xml, desired, permissions
from workers.messaging.brokers.desired import DesiredBroker, EngineLayout
from workers.messaging.certificates import KeyPair

# Files that a running broker reads again. A change of any other file needs a restart.
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
# Files with private keys or password verifiers.
SECRET_FILES = frozenset({"users.properties", "server.key", "public.key"})

# Characters that ``properties`` escapes in keys and values.
_UNSAFE = re.compile(r"[^A-Za-z0-9._\-@/+()|,]")
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
# AMQ222165 and AMQ222166 warn about each queue without a dead-letter or expiry address. A tenant's
# address has one only on request, and the reply queues of our management clients have none.
# AMQ224088 reports each connection that sent nothing as an error. The broker plugin logs one line
# with their number instead. AMQPSessionCallback logs each refused message, with a stack trace. A
# client that sends on to a full address would fill the log, so most of these lines are left out.
_LOG = """\
rootLogger.level = WARN
rootLogger.appenderRef.console.ref = console
logger.audit.name = org.apache.activemq.audit
logger.audit.level = OFF
logger.server.name = org.apache.activemq.artemis.core.server
logger.server.level = INFO
logger.server.filter.undelivered.type = RegexFilter
logger.server.filter.undelivered.regex = AMQ(22216[56]|224088):.*
logger.server.filter.undelivered.onMatch = DENY
logger.server.filter.undelivered.onMismatch = NEUTRAL
logger.refused.name = org.apache.activemq.artemis.protocol.amqp.broker.AMQPSessionCallback
logger.refused.level = WARN
logger.refused.filter.burst.type = BurstFilter
logger.refused.filter.burst.level = WARN
logger.refused.filter.burst.rate = 0.1
logger.refused.filter.burst.maxBurst = 10
appender.console.type = Console
appender.console.name = console
appender.console.place.type = PatternLayout
appender.console.place.pattern = %d %-5level [%logger] %msg%n
"""
# Nobody may manage the broker by JMX. The broker does not start with empty lists, so they name a
# domain and a role that do not exist.
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


def files(broker: DesiredBroker, engine_layout: EngineLayout) -> Mapping[str, str]:
    """Return every file of the broker: path in its configuration folder -> text.

    Private keys are in it as plain text; ``SECRET_FILES`` names the files that hold secrets.
    """
    made = _Files(broker, engine_layout)
    public = broker.public_certificate
    return {
        "broker.xml": broker_xml.render(broker, engine_layout),
        "bootstrap.xml": made.bootstrap(),
        "login.config": _LOGIN,
        "management.xml": _MANAGEMENT,
        "log4j2.properties": _LOG,
        **made.key_pair("server", broker.server),
        **(made.key_pair("public", public) if public else {}),
        "authority.pem": broker.authority_pem,
        **made.identities(),
    }


class _Files:
    """Renders the files of one broker other than ``broker.xml``."""

    def __init__(self, broker: DesiredBroker, engine_layout: EngineLayout) -> None:
        self._broker = broker
        self._layout = engine_layout

    def bootstrap(self) -> str:
        """Return ``bootstrap.xml``, which carries a digest of settings that need a restart.

        The digest covers ``login.config``, and ``broker.xml`` without addresses and users. The file
        is not in ``LIVE_FILES``, so a change of the digest restarts the broker.
        """
        bare = replace(
            self._broker, addresses=(), users=(), send_withdrawn=False, throttle_percent=None
        )
        text = broker_xml.render(bare, self._layout) + _LOGIN
        digest = hashlib.sha256(text.encode()).hexdigest()
        return _BOOTSTRAP.format(revision=digest[:16], config_dir=self._layout.config_dir)

    def key_pair(self, name: str, pair: KeyPair) -> Mapping[str, str]:
        """Return the files of a key pair: key, certificate, and a key store that names both.

        ``name`` begins the names of the three files. The key store has Artemis's type PEMCFG.
        """
        return {
            f"{name}.key": pair.key_pem,
            f"{name}.pem": pair.certificate_pem,
            f"{name}.pemcfg": f"source.key={self._layout.config_dir}/{name}.key\n"
            f"source.cert={self._layout.config_dir}/{name}.pem\n",
        }

    def identities(self) -> Mapping[str, str]:
        """Return four files: messaging users, internal client certificates, and the roles of each.

        A user without a verifier for brokers gets no password, and so cannot log in. In a standard
        space there are no messaging users in the files, because clients log in at routers.
        """
        users = self._broker.users if self._broker.public else ()
        names = {
            desired.CONTROL_NAME: desired.INTERNAL_ROLE,
            desired.ROUTER_NAME: desired.ROUTER_ROLE,
        }
        plain = {
            user.name: str(user.verifiers["artemis"])
            for user in users
            if "artemis" in user.verifiers
        }
        return {
            "users.properties": properties(plain),
            "roles.properties": properties(
                {permissions.role(user.name): user.name for user in users}
                | ({desired.REPLIES_ROLE: ",".join(user.name for user in users)} if users else {})
                | {role: ",".join(names) for role, names in permissions.readers(users).items()}
            ),
            "certificate-users.properties": properties(
                {name: certificates.distinguished_name(name) for name in names}
            ),
            "certificate-roles.properties": properties(
                {role: name for name, role in names.items()}
            ),
        }


def properties(entries: Mapping[str, str]) -> str:
    """Return the text of a Java properties file, sorted by key.

    Keys and values are escaped, so that no key or value can add a line. Source of the format:
    ``java.util.Properties.load``.
    """
    lines = [f"{_escaped(key)} = {_escaped(value)}" for key, value in sorted(entries.items())]
    return "".join(f"{line}\n" for line in lines)


def _escaped(text: str) -> str:
    def escape(found: re.Match[str]) -> str:
        # The format has escapes of 16 bits only: other characters become a surrogate pair.
        units = found[0].encode("utf-16-be")
        return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))

    return _UNSAFE.sub(escape, text)
