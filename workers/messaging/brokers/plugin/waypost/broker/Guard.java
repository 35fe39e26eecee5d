package waypost.broker;

import java.util.Map;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

import org.apache.activemq.artemis.api.core.ActiveMQException;
import org.apache.activemq.artemis.api.core.ActiveMQSecurityException;
import org.apache.activemq.artemis.api.core.Message;
import org.apache.activemq.artemis.api.core.QueueConfiguration;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.core.postoffice.QueueBinding;
import org.apache.activemq.artemis.core.server.ActiveMQServer;
import org.apache.activemq.artemis.core.server.Queue;
import org.apache.activemq.artemis.core.server.ServerSession;
import org.apache.activemq.artemis.core.server.plugin.ActiveMQServerPlugin;
import org.apache.activemq.artemis.core.transaction.Transaction;
import org.apache.activemq.artemis.spi.core.protocol.RemotingConnection;
import org.apache.activemq.artemis.utils.CompositeAddress;

/**
 * Protects a tenant's broker from connections that do not log in, from costly selectors, and from
 * messages that it would lose (docs/adr/0017).
 *
 * broker.xml names this class and its properties. The broker makes another instance at each reload
 * of that file and calls only {@link #init} on it, so nothing may start before {@link #registered}.
 */
public final class Guard implements ActiveMQServerPlugin {

   private static final long SWEEP_MILLIS = 1000;

   private Limits limits;
   private ActiveMQServer server;
   private Connections connections;
   private ScheduledFuture<?> sweep;

   @Override
   public void init(Map<String, String> properties) {
      limits = Limits.of(properties);
   }

   @Override
   public void registered(ActiveMQServer server) {
      this.server = server;
      connections = new Connections(server, limits);
      sweep = server.getScheduledPool()
         .scheduleWithFixedDelay(connections::sweep, 0, SWEEP_MILLIS, TimeUnit.MILLISECONDS);
   }

   @Override
   public void unregistered(ActiveMQServer server) {
      sweep.cancel(false);
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
   public void beforeCreateQueue(QueueConfiguration queue) throws ActiveMQException {
      Selectors.check(queue.getFilterString());
   }

   /**
    * Refuses a message to {@code address::queue} if the queue belongs to another address. The
    * broker checks the right to send to the address, then finds no such queue there, and would
    * accept the message without storing it.
    */
   @Override
   public void beforeSend(ServerSession session, Transaction transaction, Message message,
                          boolean direct, boolean noAutoCreateQueue) throws ActiveMQException {
      SimpleString target = message.getAddressSimpleString();
      if (target == null || !CompositeAddress.isFullyQualified(target)) {
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
