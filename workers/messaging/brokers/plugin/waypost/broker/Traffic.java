package waypost.broker;

import java.util.Map;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;

import org.apache.activemq.artemis.api.core.Message;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.core.postoffice.RoutingStatus;
import org.apache.activemq.artemis.core.server.ActiveMQServer;
import org.apache.activemq.artemis.core.server.Queue;
import org.apache.activemq.artemis.core.server.impl.AddressInfo;
import org.apache.activemq.artemis.core.transaction.Transaction;
import org.apache.activemq.artemis.core.transaction.TransactionOperationAbstract;
import org.apache.activemq.artemis.json.JsonArrayBuilder;
import org.apache.activemq.artemis.json.JsonObjectBuilder;
import org.apache.activemq.artemis.utils.CompositeAddress;
import org.apache.activemq.artemis.utils.JsonLoader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the bytes of what clients send and acknowledge, for metering.
 *
 * The broker counts messages only. What a message counts depends on its own size, so it cannot be
 * computed from sums later. The counts begin with the process, as the broker's own counters do. A
 * message of a transaction counts when the transaction commits. What management sends, moves or
 * removes, and dead letters, are not counted.
 */
public final class Traffic implements TrafficMBean {

   private static final Logger LOG = LoggerFactory.getLogger(Traffic.class);
   private static final long STEP = 64 * 1024;

   /** What was counted at one queue or topic. */
   private static final class Counted {
      private final Tally in = new Tally();
      private final Tally out = new Tally();
   }

   private static final class Tally {
      private final LongAdder bytes = new LongAdder();
      private final LongAdder steps = new LongAdder();

      void add(long size) {
         bytes.add(size);
         steps.add(Math.max(1, (size + STEP - 1) / STEP)); // an empty message begins one
      }

      void addTo(JsonArrayBuilder row) {
         row.add(bytes.sum()).add(steps.sum());
      }
   }

   private final ActiveMQServer server;
   // By the broker's id of a queue or topic.
   private final ConcurrentNavigableMap<Long, Counted> counts = new ConcurrentSkipListMap<>();

   Traffic(ActiveMQServer server) {
      this.server = server;
   }

   /** Counts a message that a client sent. The broker counts one without a receiver, too. */
   void sent(Transaction transaction, Message message, RoutingStatus result) {
      SimpleString target = message.getAddressSimpleString();
      boolean isTaken = result == RoutingStatus.OK || result == RoutingStatus.NO_BINDINGS;
      if (!isTaken || target == null) {
         return;
      }
      Long id = idOf(CompositeAddress.extractAddressName(target));
      if (id != null) {
         count(transaction, message, size -> of(id).in.add(size));
      }
   }

   /** Counts a message that a client acknowledged on {@code queue}. */
   void acknowledged(Transaction transaction, Queue queue, Message message) {
      count(transaction, message, size -> of(queue.getID()).out.add(size));
   }

   private Counted of(Long id) {
      return counts.computeIfAbsent(id, missing -> new Counted());
   }

   void destroyed(Queue queue) {
      counts.remove(queue.getID());
   }

   void removed(AddressInfo address) {
      counts.remove(address.getId());
   }

   /** The id under which metering knows an address: that of its queue, else that of the topic. */
   private Long idOf(SimpleString address) {
      Queue queue = server.locateQueue(address);
      if (queue != null) {
         return queue.getID();
      }
      AddressInfo topic = server.getAddressInfo(address);
      return topic == null ? null : topic.getId();
   }

   private static void count(Transaction transaction, Message message, LongConsumer add) {
      long size;
      try {
         // Read now: the file of a large message may be gone after the commit.
         size = Messages.size(message);
      } catch (Exception error) {
         LOG.error("The size of a message is not known, so its bytes are not metered", error);
         return;
      }
      if (transaction == null) {
         add.accept(size);
      } else {
         transaction.addOperation(
            TransactionOperationAbstract.afterCommit(() -> add.accept(size)));
      }
   }

   /**
    * Returns the counts of up to {@code most} queues and topics with ids above {@code after}, in
    * the order of their ids, as JSON: {id: [bytes in, steps in, bytes out, steps out]}.
    */
   @Override
   public String counted(long after, int most) {
      JsonObjectBuilder found = JsonLoader.createObjectBuilder();
      int taken = 0;
      for (Map.Entry<Long, Counted> entry : counts.tailMap(after, false).entrySet()) {
         if (taken++ == most) {
            break;
         }
         JsonArrayBuilder row = JsonLoader.createArrayBuilder();
         entry.getValue().in.addTo(row);
         entry.getValue().out.addTo(row);
         found.add(entry.getKey().toString(), row);
      }
      return found.build().toString();
   }
}
