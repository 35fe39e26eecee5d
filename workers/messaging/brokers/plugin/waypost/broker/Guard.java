package waypost.broker;

import java.util.Map;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;

import org.apache.activemq.artemis.api.core.ActiveMQException;
import org.apache.activemq.artemis.api.core.ActiveMQSecurityException;
import org.apache.activemq.artemis.api.core.Message;
import org.apache.activemq.artemis.api.core.QueueConfiguration;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.core.postoffice.Binding;
import org.apache.activemq.artemis.core.postoffice.QueueBinding;
import org.apache.activemq.artemis.core.postoffice.RoutingStatus;
import org.apache.activemq.artemis.core.security.SecurityAuth;
import org.apache.activemq.artemis.core.server.ActiveMQServer;
import org.apache.activemq.artemis.core.server.MessageReference;
import org.apache.activemq.artemis.core.server.Queue;
import org.apache.activemq.artemis.core.server.RoutingContext;
import org.apache.activemq.artemis.core.server.ServerConsumer;
import org.apache.activemq.artemis.core.server.ServerSession;
import org.apache.activemq.artemis.core.server.impl.AckReason;
import org.apache.activemq.artemis.core.server.impl.AddressInfo;
import org.apache.activemq.artemis.core.server.plugin.ActiveMQServerPlugin;
import org.apache.activemq.artemis.core.transaction.Transaction;
import org.apache.activemq.artemis.spi.core.protocol.RemotingConnection;
import org.apache.activemq.artemis.utils.CompositeAddress;

/**
 * Protects a tenant's broker from connections that do not log in, from costly selectors, and from
 * messages that it would lose (docs/adr/0017). Lets clients subscribe to filters (docs/adr/0020).
 *
 * broker.xml names this class and its properties. The broker makes another instance at each reload
 * of that file and calls only {@link #init} on it, so nothing may start before {@link #registered}.
 */
public final class Guard implements ActiveMQServerPlugin {

   private static final long SWEEP_MILLIS = 1000;
   // The resources of management.
   private static final String MESSAGES = "waypost.messages";
   private static final String CLIENTS = "waypost.clients";
   private static final String TRANSIT = "waypost.transit";
   private static final String TRAFFIC = "waypost.traffic";

   private Limits limits;
   private PlanLimits plan;
   private ActiveMQServer server;
   private Connections connections;
   private ScheduledFuture<?> sweep;
   private Messages messages;
   private Clients clients;
   private Replies replies;
   private LargeFiles files;
   private Storage storage;
   private Filters filters;
   private Throttle throttle;
   private Transit transit;
   private Traffic traffic;
   private Health health;

   @Override
   public void init(Map<String, String> properties) {
      limits = Limits.of(properties);
      plan = PlanLimits.of(properties);
   }

   @Override
   public void registered(ActiveMQServer server) {
      this.server = server;
      filters = new Filters(server);
      clients = new Clients();
      throttle = new Throttle(server);
      connections = new Connections(server, limits, plan, filters, clients, throttle);
      replies = new Replies(server);
      files = new LargeFiles(server);
      storage = new Storage(server, files);
      messages = new Messages(server, storage);
      transit = new Transit(Runtime.getRuntime().maxMemory());
      traffic = new Traffic(server);
      try {
         server.getManagementService().registerUntypedControl(MESSAGES, messages, nameOf("Messages"));
         server.getManagementService().registerUntypedControl(CLIENTS, clients, nameOf("Clients"));
         server.getManagementService().registerUntypedControl(TRANSIT, transit, nameOf("Transit"));
         server.getManagementService().registerUntypedControl(TRAFFIC, traffic, nameOf("Traffic"));
      } catch (Exception error) {
         throw new IllegalStateException(error);
      }
      sweep = server.getScheduledPool()
         .scheduleWithFixedDelay(this::sweep, 0, SWEEP_MILLIS, TimeUnit.MILLISECONDS);
      health = Health.open(server);
   }

   private void sweep() {
      throttle.sweep();
      connections.sweep();
      filters.sweep();
      transit.sweep();
   }

   @Override
   public void unregistered(ActiveMQServer server) {
      sweep.cancel(false);
      if (health != null) {
         health.close();
      }
      try {
         server.getManagementService().unregisterUntypedControl(MESSAGES, nameOf("Messages"));
         server.getManagementService().unregisterUntypedControl(CLIENTS, nameOf("Clients"));
         server.getManagementService().unregisterUntypedControl(TRANSIT, nameOf("Transit"));
         server.getManagementService().unregisterUntypedControl(TRAFFIC, nameOf("Traffic"));
      } catch (Exception error) {
         throw new IllegalStateException(error);
      }
   }

   private static ObjectName nameOf(String type) throws MalformedObjectNameException {
      return new ObjectName("waypost:type=" + type);
   }

   /** Counts what management removed, and what clients acknowledged: they have a consumer. */
   @Override
   public void messageAcknowledged(Transaction transaction, MessageReference reference,
                                   AckReason reason, ServerConsumer consumer) {
      transit.settled();
      if (reason != AckReason.NORMAL) {
         return;
      }
      if (consumer == null) {
         messages.removed(reference.getQueue());
      } else {
         clients.acknowledged(consumer);
         traffic.acknowledged(transaction, reference.getQueue(), reference.getMessage());
      }
   }

   /** Counts what management added. Dead and expired messages move for other reasons. */
   @Override
   public void messageMoved(Transaction transaction, MessageReference reference, AckReason reason,
                            SimpleString address, Long queue, ServerConsumer consumer,
                            Message message, RoutingStatus result) {
      if (consumer == null && reason == AckReason.NORMAL && result == RoutingStatus.OK) {
         messages.added(address);
      }
   }

   /** Counts the files of messages that were not sent by a client: dead letters, moved messages. */
   @Override
   public void beforeMessageRoute(Message message, RoutingContext context, boolean direct,
                                  boolean rejectDuplicates) throws ActiveMQException {
      attempt(() -> files.moved(message));
   }

   @Override
   public boolean canAccept(ServerConsumer consumer, MessageReference reference) {
      return transit.admits(consumer, reference);
   }

   @Override
   public void beforeDeliver(ServerConsumer consumer, MessageReference reference) {
      transit.given(consumer, reference);
      filters.mark(reference);
   }

   @Override
   public void afterDeliver(ServerConsumer consumer, MessageReference reference) {
      transit.follow(consumer, reference);
   }

   @Override
   public void afterCreateConnection(RemotingConnection connection) {
      connections.created(connection);
   }

   @Override
   public void beforeCreateConsumer(long id, QueueBinding binding, SimpleString filter,
                                    boolean browseOnly, boolean supportLargeMessage)
      throws ActiveMQException {
      Selectors.check(filter);
   }

   @Override
   public void afterCreateConsumer(ServerConsumer consumer) throws ActiveMQException {
      if (Filters.isFilter(consumer.getQueue().getAddress())) {
         filters.checkConsumer(consumer);
      } else {
         replies.checkConsumer(consumer);
      }
   }

   @Override
   public void afterCloseConsumer(ServerConsumer consumer, boolean failed) {
      transit.closed(consumer);
   }

   @Override
   public void beforeCreateQueue(QueueConfiguration queue) throws ActiveMQException {
      Selectors.check(queue.getFilterString());
      if (Filters.isFilter(queue.getAddress())) {
         filters.checkCreation(queue);
      } else {
         replies.checkCreation(queue);
      }
   }

   @Override
   public void afterCreateQueue(Queue queue) {
      replies.created(queue);
   }

   @Override
   public void beforeDestroyQueue(Queue queue, SecurityAuth session, boolean checkConsumerCount,
                                  boolean removeConsumers, boolean autoDeleteAddress)
      throws ActiveMQException {
      if (Filters.isFilter(queue.getAddress())) {
         filters.checkEnd(queue, session);
      }
   }

   @Override
   public void afterDestroyQueue(Queue queue, SimpleString address, SecurityAuth session,
                                 boolean checkConsumerCount, boolean removeConsumers,
                                 boolean autoDeleteAddress) {
      replies.destroyed(queue);
      traffic.destroyed(queue);
   }

   @Override
   public void afterRemoveAddress(SimpleString address, AddressInfo info)
      throws ActiveMQException {
      if (info != null) {
         traffic.removed(info);
      }
   }

   @Override
   public void afterAddBinding(Binding binding) throws ActiveMQException {
      attempt(() -> filters.bindingAdded(binding));
   }

   @Override
   public void afterRemoveBinding(Binding binding, Transaction transaction, boolean deleteData)
      throws ActiveMQException {
      attempt(() -> filters.bindingRemoved(binding));
   }

   @Override
   public void afterAddAddress(AddressInfo address, boolean reload) throws ActiveMQException {
      attempt(() -> filters.addressAdded(address));
   }

   @Override
   public void beforeRemoveAddress(SimpleString address) throws ActiveMQException {
      attempt(() -> filters.addressLeaves(address));
   }

   private interface Change {
      void make() throws Exception;
   }

   private static void attempt(Change change) throws ActiveMQException {
      try {
         change.make();
      } catch (ActiveMQException | RuntimeException error) {
         throw error;
      } catch (Exception error) {
         throw new IllegalStateException(error);
      }
   }

   @Override
   public void afterSend(ServerSession session, Transaction transaction, Message message,
                         boolean direct, boolean noAutoCreateQueue, RoutingStatus result)
      throws ActiveMQException {
      traffic.sent(transaction, message, result);
   }

   /**
    * Refuses a message to what is open for replies only and is no reply queue. Also refuses one
    * to {@code address::queue} if the queue belongs to another address. The
    * broker checks the right to send to the address, then finds no such queue there, and would
    * accept the message without storing it.
    */
   @Override
   public void beforeSend(ServerSession session, Transaction transaction, Message message,
                          boolean direct, boolean noAutoCreateQueue) throws ActiveMQException {
      SimpleString target = message.getAddressSimpleString();
      if (target == null) {
         return;
      }
      replies.checkMessage(session, CompositeAddress.extractAddressName(target));
      storage.check(CompositeAddress.extractAddressName(target), message);
      if (!CompositeAddress.isFullyQualified(target)) {
         attempt(() -> filters.checkRoom(target));
         return;
      }
      SimpleString address = CompositeAddress.extractAddressName(target);
      Queue queue = server.locateQueue(CompositeAddress.extractQueueName(target));
      if (queue == null || !queue.getAddress().equals(address)) {
         // The sender sees amqp:unauthorized-access. For a refused message Artemis has no exception
         // that becomes amqp:not-found.
         throw new ActiveMQSecurityException(
            "The address " + address + " has no such queue: name the address alone.");
      }
   }
}
