package waypost.broker;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.activemq.artemis.api.core.Message;
import org.apache.activemq.artemis.core.server.MessageReference;
import org.apache.activemq.artemis.core.server.Queue;
import org.apache.activemq.artemis.core.server.ServerConsumer;
import org.apache.activemq.artemis.protocol.amqp.broker.AMQPMessage;
import org.apache.activemq.artemis.protocol.amqp.proton.AMQPConnectionContext;
import org.apache.activemq.artemis.protocol.amqp.proton.ProtonServerSenderContext;
import org.apache.activemq.artemis.utils.JsonLoader;

/**
 * Bounds the bytes of large messages that the broker has in its heap because it sends them.
 *
 * The listener for routers takes a message in one piece. If it is larger than a record of the
 * journal, the broker stores it as a file, in a form of its own, and reads all of it to send it.
 * Its queue's thread hands messages to the connection as long as the router gives credit, which is
 * much faster than the connection sends. So the messages of 250 credits would be in the heap at
 * once.
 *
 * All consumers share an eighth of the heap. Half of it is for whoever comes first. The other half
 * is divided, so that a router that does not read stops no other one. A message that exceeds the
 * bound alone is sent alone. Messages that wait for their outcome are files again and do not count.
 *
 * A consumer that has to wait is refused every message, so that none overtakes another. The broker
 * then passes over the messages, so it begins again at the first one afterwards. Both happen under
 * the queue's monitor, as each delivery does.
 */
public final class Transit implements TransitMBean {

   private static final int PART_OF_HEAP = 8;

   private final long bound;
   private final Map<Long, Held> byConsumer = new ConcurrentHashMap<>();
   private final Set<Held> queued = new LinkedHashSet<>();  // who waits, the first one first
   private volatile int waiting;  // those, and those that are about to begin again
   private long most;

   /** The bytes that one consumer has. The monitor of {@link Transit} guards the fields. */
   private static final class Held {

      private final ServerConsumer consumer;
      private long promised;  // of the message that the broker is about to give to the consumer
      private boolean isOld;  // whether a sweep has seen the promise
      private long handed;  // of messages that the connection has to read from their files
      private long unsent;  // of messages that it has read, and that the socket has not taken
      private boolean isLooking;
      private boolean waits;
      private long wanted;  // of the message that it waits for

      private Held(ServerConsumer consumer) {
         this.consumer = consumer;
      }

      private long bytes() {
         return promised + handed + unsent;
      }
   }

   Transit(long heapBytes) {
      bound = heapBytes / PART_OF_HEAP;
   }

   /** Returns the bytes that the broker reads into its heap to send it, 0 for a small message. */
   private static long sizeOf(MessageReference reference) {
      Message message = reference.getMessage();
      if (!message.isLargeMessage() || message instanceof AMQPMessage) {
         return 0; // the broker sends a large one in AMQP's form in parts, from its file
      }
      try {
         return Messages.size(message);
      } catch (Exception error) {
         throw new IllegalStateException(error);
      }
   }

   /**
    * Returns whether the consumer may have the message now. If so, its bytes are promised until
    * {@link #given}. The caller holds the queue's monitor.
    */
   boolean admits(ServerConsumer consumer, MessageReference reference) {
      long size = sizeOf(reference);
      if (size == 0 && waiting == 0 || consumer.isBrowseOnly()) {
         return true;
      }
      Held held = byConsumer.computeIfAbsent(consumer.sequentialID(), id -> new Held(consumer));
      synchronized (this) {
         if (held.waits) {
            return false;
         }
         held.promised = 0;
         if (size > 0 && !fits(held, size, total())) {
            held.waits = true;
            held.wanted = size;
            queued.add(held);
            waiting++;
            return false;
         }
         held.promised = size;
         held.isOld = false;
         most = Math.max(most, total());
         return true;
      }
   }

   private boolean fits(Held held, long size, long taken) {
      long divided = bound / 2;
      if (taken == 0 || taken + size <= bound - divided) {
         return true;
      }
      long own = held.bytes();
      long share = divided / Math.max(1, byConsumer.size());
      return taken + size <= bound && (own == 0 || own + size <= share);
   }

   private long total() {
      byConsumer.values().removeIf(held -> held.consumer.isClosed());
      return byConsumer.values().stream().mapToLong(Held::bytes).sum();
   }

   /** Counts a message that the broker gives to the consumer. */
   void given(ServerConsumer consumer, MessageReference reference) {
      long size = sizeOf(reference);
      Held held = size == 0 ? null : byConsumer.get(consumer.sequentialID());
      if (held != null) {
         synchronized (this) {
            held.promised = 0;
            held.handed += size;
         }
      }
   }

   /** Follows a message that the broker has given to the consumer, on the connection's thread. */
   void follow(ServerConsumer consumer, MessageReference reference) {
      long size = sizeOf(reference);
      Held held = size == 0 ? null : byConsumer.get(consumer.sequentialID());
      if (held != null && consumer.getProtocolContext() instanceof ProtonServerSenderContext link) {
         connectionOf(link).runLater(() -> {
            synchronized (this) {
               held.handed -= size;
               held.unsent += size;
            }
            look(held, link);
         });
      }
   }

   private static AMQPConnectionContext connectionOf(ProtonServerSenderContext link) {
      return link.getSessionContext().getAMQPConnectionContext();
   }

   /** Finds out what the socket has taken. Runs on the connection's thread, after its writes. */
   private void look(Held held, ProtonServerSenderContext link) {
      AMQPConnectionContext connection = connectionOf(link);
      connection.instantFlush();
      long unsent = link.getSender().getSession().getOutgoingBytes();
      boolean isRest;
      synchronized (this) {
         held.unsent = Math.min(held.unsent, unsent);
         isRest = held.unsent > 0;
      }
      // If the socket is free, the router's window is full: the next outcome or sweep looks again.
      if (isRest) {
         connection.flowControl(() -> lookLater(held));
      }
      startWhoFits();
   }

   private void lookLater(Held held) {
      Object context = held.consumer.getProtocolContext();
      if (!(context instanceof ProtonServerSenderContext link)) {
         return; // it is being closed
      }
      synchronized (this) {
         if (held.isLooking || held.unsent == 0) {
            return;
         }
         held.isLooking = true;
      }
      connectionOf(link).runLater(() -> {
         synchronized (this) {
            held.isLooking = false;
         }
         look(held, link);
      });
   }

   /** Forgets a consumer that was closed. */
   void closed(ServerConsumer consumer) {
      byConsumer.remove(consumer.sequentialID());
      startWhoFits();
   }

   /** Looks again, if somebody waits: a router's outcomes come with its windows. */
   void settled() {
      if (waiting > 0) {
         byConsumer.values().forEach(this::lookLater);
      }
   }

   /** Drops promises that were not kept because the connection was busy, and looks at all. */
   void sweep() {
      synchronized (this) {
         for (Held held : byConsumer.values()) {
            if (held.isOld) {
               held.promised = 0;
            }
            held.isOld = held.promised > 0;
         }
      }
      byConsumer.values().forEach(this::lookLater);
      startWhoFits();
   }

   private void startWhoFits() {
      if (waiting > 0) {
         takeWhoFits().forEach(this::startAgain);
      }
   }

   private synchronized List<Held> takeWhoFits() {
      List<Held> found = new ArrayList<>();
      long taken = total();
      for (Held held : queued) {
         if (held.consumer.isClosed()) {
            found.add(held);
         } else if (fits(held, held.wanted, taken)) {
            found.add(held);
            taken += held.wanted;
         }
      }
      found.forEach(queued::remove);
      return found;
   }

   private void startAgain(Held held) {
      Queue queue = held.consumer.getQueue();
      queue.getExecutor().execute(() -> {
         synchronized (queue) {
            synchronized (this) {
               held.waits = false;
               waiting--;
            }
            queue.resetAllIterators();
         }
         queue.deliverAsync();
      });
   }

   /**
    * Returns {bound, now, most, waiting} as JSON: the bytes that may be in the heap, those that
    * are, the most since the start, and how many consumers wait.
    */
   @Override
   public synchronized String described() {
      return JsonLoader.createObjectBuilder()
         .add("bound", bound)
         .add("now", total())
         .add("most", most)
         .add("waiting", waiting)
         .build().toString();
   }
}
