package waypost.broker;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicLong;

import javax.net.ssl.SSLSession;

import io.netty.channel.Channel;
import io.netty.handler.ssl.SslHandler;

import org.apache.activemq.artemis.json.JsonObjectBuilder;
import org.apache.activemq.artemis.protocol.amqp.proton.AMQPConnectionContext;
import org.apache.activemq.artemis.protocol.amqp.proton.AmqpSupport;
import org.apache.activemq.artemis.protocol.amqp.proton.ProtonServerReceiverContext;
import org.apache.activemq.artemis.protocol.amqp.proton.handler.EventHandler;
import org.apache.activemq.artemis.utils.JsonLoader;
import org.apache.qpid.proton.amqp.Symbol;
import org.apache.qpid.proton.amqp.UnsignedLong;
import org.apache.qpid.proton.amqp.transport.AmqpError;
import org.apache.qpid.proton.amqp.transport.ErrorCondition;
import org.apache.qpid.proton.engine.Connection;
import org.apache.qpid.proton.engine.Endpoint;
import org.apache.qpid.proton.engine.Link;
import org.apache.qpid.proton.engine.Receiver;
import org.apache.qpid.proton.engine.Session;

/**
 * Applies the plan's limits to the sessions, links and messages of one client's connection, and
 * remembers what describes it to people.
 *
 * The broker calls it on the connection's own thread, after it has handled the same event itself.
 * {@link #described} and {@link #received} run on any thread.
 */
final class Client implements EventHandler {

   private static final Symbol PRODUCT = Symbol.valueOf("product");
   private static final Symbol VERSION = Symbol.valueOf("version");
   private static final String NO_TLS = "none";
   private static final int MOST_CHARACTERS = 120;  // of a text that a client chooses

   private final AMQPConnectionContext amqp;
   private final PlanLimits limits;
   private final Users users;
   private final ScheduledExecutorService timer;
   private final Rate own;
   private final Set<Session> sessions = new HashSet<>();
   private final Set<Session> refused = new HashSet<>();
   private final Set<Link> senders = new HashSet<>();
   private final Set<Link> receivers = new HashSet<>();
   private final AtomicLong sent = new AtomicLong();
   private final AtomicLong received = new AtomicLong();
   private final String tlsProtocol;
   private final String tlsCipher;
   private volatile String product = "";
   private volatile String version = "";

   /** {@code channel}: the connection's, after its TLS handshake. */
   Client(Channel channel, AMQPConnectionContext amqp, PlanLimits limits, Users users,
          Throttle throttle, ScheduledExecutorService timer) {
      SslHandler handler = channel.pipeline().get(SslHandler.class);
      SSLSession tls = handler == null ? null : handler.engine().getSession();
      tlsProtocol = tls == null ? NO_TLS : tls.getProtocol();
      tlsCipher = tls == null ? "" : tls.getCipherSuite();
      this.amqp = amqp;
      this.limits = limits;
      this.users = users;
      this.timer = timer;
      own = new Rate(limits.connectionRate(), throttle);
   }

   @Override
   public void onRemoteOpen(Connection connection) {
      product = text(connection, PRODUCT);
      version = text(connection, VERSION);
   }

   private static String text(Connection connection, Symbol name) {
      Map<Symbol, Object> properties = connection.getRemoteProperties();
      Object value = properties == null ? null : properties.get(name);
      String text = value == null ? "" : value.toString();
      return text.substring(0, Math.min(text.length(), MOST_CHARACTERS));
   }

   /** Counts a message that the client has sent. */
   void sent() {
      sent.incrementAndGet();
   }

   /** Counts a message that the client has acknowledged. */
   void received() {
      received.incrementAndGet();
   }

   /** Returns this connection's part of {@link Clients#described}. */
   JsonObjectBuilder described() {
      return JsonLoader.createObjectBuilder()
         .add("product", product)
         .add("version", version)
         .add("tlsProtocol", tlsProtocol)
         .add("tlsCipher", tlsCipher)
         .add("sent", sent.get())
         .add("received", received.get());
   }

   @Override
   public void onRemoteOpen(Session session) {
      sessions.add(session);
      if (isOver(sessions, limits.sessions())) {
         refused.add(session);
         refuse(session, "The plan allows " + limits.sessions() + " sessions of a connection.");
      }
   }

   @Override
   public void onRemoteClose(Session session) {
      sessions.remove(session);
      refused.remove(session);
      senders.removeIf(link -> link.getSession() == session);
      receivers.removeIf(link -> link.getSession() == session);
   }

   /** Runs before the broker answers the link, so that a link too many creates nothing. */
   @Override
   public void onInit(Link link) {
      if (refused.contains(link.getSession())) {
         answer(link, () -> { }); // the client learns it from the end of the session
      } else if (link instanceof Receiver) {
         // What the client sends is received here.
         if (limits.messageBytes() >= 0) {
            link.setMaxMessageSize(UnsignedLong.valueOf(limits.messageBytes()));
         }
         admit(link, senders, limits.senders(), "senders");
      } else {
         admit(link, receivers, limits.receivers(), "receivers");
      }
   }

   private void admit(Link link, Set<Link> links, int limit, String what) {
      links.add(link);
      if (isOver(links, limit)) {
         links.remove(link);
         answer(link, () -> {
            link.open();
            refuse(link, "The plan allows " + limit + " " + what + " of a connection.");
         });
      }
   }

   private static boolean isOver(Set<?> present, int limit) {
      return limit >= 0 && present.size() > limit;
   }

   /** Makes the broker run {@code answer} instead of its own handling of a new link. */
   private static void answer(Link link, Runnable answer) {
      link.attachments().set(AmqpSupport.AMQP_LINK_INITIALIZER_KEY, Runnable.class, answer);
   }

   private void refuse(Endpoint endpoint, String text) {
      endpoint.setCondition(new ErrorCondition(AmqpError.RESOURCE_LIMIT_EXCEEDED, text));
      endpoint.close();
      amqp.flush();
   }

   @Override
   public void onRemoteOpen(Link link) {
      if (link.getContext() instanceof ProtonServerReceiverContext context) {
         link.setContext(new Incoming((Receiver) link, context, limits.messageBytes(), this::sent,
            new Pace(context, own, users.rate(amqp.getSASLResult().getUser()), timer)));
      }
   }

   @Override
   public void onRemoteClose(Link link) {
      forget(link);
   }

   @Override
   public void onRemoteDetach(Link link) {
      forget(link);
   }

   @Override
   public void onLocalClose(Link link) {
      forget(link);
   }

   private void forget(Link link) {
      senders.remove(link);
      receivers.remove(link);
   }
}
