package waypost.broker;

import java.lang.reflect.Field;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.group.ChannelGroup;

import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.api.core.management.CoreNotificationType;
import org.apache.activemq.artemis.api.core.management.ManagementHelper;
import org.apache.activemq.artemis.core.remoting.impl.netty.NettyAcceptor;
import org.apache.activemq.artemis.core.remoting.impl.netty.NettyConnection;
import org.apache.activemq.artemis.core.remoting.server.RemotingService;
import org.apache.activemq.artemis.core.server.ActiveMQServer;
import org.apache.activemq.artemis.core.server.management.Notification;
import org.apache.activemq.artemis.protocol.amqp.broker.ActiveMQProtonRemotingConnection;
import org.apache.activemq.artemis.protocol.amqp.proton.AMQPConnectionContext;
import org.apache.activemq.artemis.protocol.amqp.sasl.SASLResult;
import org.apache.activemq.artemis.spi.core.protocol.RemotingConnection;
import org.apache.activemq.artemis.utils.CertificateUtil;
import org.apache.activemq.artemis.utils.collections.TypedProperties;
import org.apache.qpid.proton.amqp.transport.AmqpError;
import org.apache.qpid.proton.amqp.transport.ErrorCondition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows each connection of the clients' acceptor from the accepted socket to its login.
 *
 * A connection counts against the plan's limit, and is announced for metering, once it has logged
 * in. A connection whose login failed is announced when it ends: the broker announces the failure
 * too, and metering subtracts failures from connections.
 */
final class Connections {

   private static final Logger LOG = LoggerFactory.getLogger(Connections.class);
   private static final Field LISTENERS = listeners();

   private final ActiveMQServer server;
   private final Limits limits;
   private final Filters filters;
   private final Waiting waiting;
   private final PlanLimits plan;
   private final Users users;
   private final Clients described;
   private final Throttle throttle;
   private final Arrivals arrivals = new Arrivals();
   private final Map<Channel, RemotingConnection> undecided = new ConcurrentHashMap<>();
   private final Map<Channel, String> clients = new ConcurrentHashMap<>();  // to their users
   private final AtomicInteger clientCount = new AtomicInteger();
   private final AtomicLong evicted = new AtomicLong();

   Connections(ActiveMQServer server, Limits limits, PlanLimits plan, Filters filters,
               Clients described, Throttle throttle) {
      this.server = server;
      this.throttle = throttle;
      this.limits = limits;
      this.filters = filters;
      this.plan = plan;
      this.described = described;
      users = new Users(plan, throttle);
      this.waiting = new Waiting(limits);
   }

   /** Handler of a listener: sees each accepted socket before TLS begins. */
   @Sharable
   private final class Arrivals extends ChannelInboundHandlerAdapter {

      @Override
      public void channelRead(ChannelHandlerContext context, Object accepted) {
         arrived((Channel) accepted);
         context.fireChannelRead(accepted);
      }
   }

   /**
    * Closes connections that have waited too long for their login, and adds {@link Arrivals} to
    * listeners that are new since the last call. Logs how many connections were closed.
    */
   void sweep() {
      try {
         if (remoting() == null) {
            return; // the broker is still starting
         }
         watchListeners();
         List<Channel> overdue = waiting.removeOverdue();
         overdue.forEach(this::close);
         long crowded = evicted.getAndSet(0);
         if (crowded + overdue.size() > 0) {
            LOG.warn("Closed connections that had not logged in: {} after {} s, {} over the limit",
               overdue.size(), limits.secondsToLogIn(), crowded);
         }
      } catch (Exception error) { // an exception would end the schedule for ever
         LOG.error("The sweep of connections before login failed", error);
      }
   }

   void created(RemotingConnection connection) {
      Channel channel = guardedChannel(connection);
      if (channel == null) {
         return;
      }
      arrived(channel);
      undecided.put(channel, connection);
      if (connection instanceof ActiveMQProtonRemotingConnection amqp) {
         AMQPConnectionContext context = amqp.getAmqpConnection();
         context.addRemoteOpenedListener(opened -> opened(channel, amqp, opened));
         context.addEventHandler(new FilterLinks(filters, context));
         Client client = new Client(channel, context, plan, users, throttle,
            server.getScheduledPool());
         context.addEventHandler(client);
         described.add(connection.getID(), client, channel);
      }
   }

   private void arrived(Channel channel) {
      if (clients.containsKey(channel) || !channel.isOpen()) {
         return;
      }
      List<Channel> over = waiting.add(channel);
      channel.closeFuture().addListener(closed -> ended(channel));
      evicted.addAndGet(over.size());
      over.forEach(this::close);
   }

   private void ended(Channel channel) {
      waiting.remove(channel);
      RemotingConnection connection = undecided.remove(channel);
      if (connection != null && hasFailedLogin(connection)) {
         announce(connection);
      }
      String user = clients.remove(channel);
      if (user != null) {
         clientCount.decrementAndGet();
         users.leave(user);
      }
   }

   /** Runs when a client has opened its AMQP connection, which needs a login before it. */
   private void opened(Channel channel, RemotingConnection connection, AMQPConnectionContext amqp) {
      SASLResult login = amqp.getSASLResult();
      if (login == null || !login.isSuccess()) {
         return;
      }
      undecided.remove(channel);
      String refusal = admit(channel, login.getUser());
      if (refusal != null) {
         // It stays in {@code waiting}, so that a client that ignores the answer is closed soon.
         amqp.close(new ErrorCondition(AmqpError.RESOURCE_LIMIT_EXCEEDED, refusal));
         return;
      }
      waiting.remove(channel);
      announce(connection);
   }

   /** Counts a connection, or returns why it may not be. */
   private String admit(Channel channel, String user) {
      int count = clientCount.incrementAndGet();
      int most = throttle.of(limits.connections());
      if (most >= 0 && count > most) {
         clientCount.decrementAndGet();
         return "The plan allows " + most + " connections: close one first.";
      }
      if (!users.enter(user)) {
         clientCount.decrementAndGet();
         return "The plan allows " + throttle.of(plan.userConnections())
            + " connections of one user: close one first.";
      }
      clients.put(channel, user);
      if (!channel.isOpen()) {
         ended(channel); // the channel closed before clients had it, so its end did not remove it
      }
      return null;
   }

   private void close(Channel channel) {
      RemotingConnection connection = undecided.remove(channel);
      if (connection != null) {
         // Otherwise the broker would log each one as a lost connection.
         remoting().removeConnection(connection.getID());
         connection.destroy();
      }
      channel.close();
   }

   private Channel guardedChannel(RemotingConnection connection) {
      return connection.getTransportConnection() instanceof NettyConnection netty
         && acceptor() instanceof NettyAcceptor acceptor
         && acceptor.getConnections().containsKey(netty.getID()) ? netty.getNettyChannel() : null;
   }

   private void watchListeners() throws IllegalAccessException {
      if (acceptor() instanceof NettyAcceptor acceptor
         && LISTENERS.get(acceptor) instanceof ChannelGroup listeners) {
         for (Channel listener : listeners) {
            if (listener.pipeline().get(Arrivals.class) == null) {
               listener.pipeline().addFirst(arrivals);
            }
         }
      }
   }

   private RemotingService remoting() {
      return server.getRemotingService();
   }

   private Object acceptor() {
      return remoting().getAcceptor(limits.acceptor());
   }

   private static boolean hasFailedLogin(RemotingConnection connection) {
      return connection instanceof ActiveMQProtonRemotingConnection amqp
         && amqp.getAmqpConnection().getSASLResult() != null
         && !amqp.getAmqpConnection().getSASLResult().isSuccess();
   }

   /**
    * Sends the notification that Artemis's own NotificationActiveMQServerPlugin sends for each new
    * connection. An internal queue counts it for metering.
    */
   private void announce(RemotingConnection connection) {
      TypedProperties properties = new TypedProperties();
      properties.putSimpleStringProperty(ManagementHelper.HDR_CONNECTION_NAME,
         SimpleString.of(connection.getID().toString()));
      properties.putSimpleStringProperty(ManagementHelper.HDR_CERT_SUBJECT_DN,
         SimpleString.of(CertificateUtil.getCertSubjectDN(connection)));
      properties.putSimpleStringProperty(ManagementHelper.HDR_REMOTE_ADDRESS,
         SimpleString.of(connection.getRemoteAddress()));
      try {
         server.getManagementService().sendNotification(
            new Notification(null, CoreNotificationType.CONNECTION_CREATED, properties));
      } catch (Exception error) {
         LOG.error("A connection was not announced, so it is not metered", error);
      }
   }

   /** Fails when this class is loaded if this version of Artemis has no such field. */
   private static Field listeners() {
      try {
         Field field = NettyAcceptor.class.getDeclaredField("serverChannelGroup");
         field.setAccessible(true);
         return field;
      } catch (ReflectiveOperationException error) {
         throw new ExceptionInInitializerError(error);
      }
   }
}
