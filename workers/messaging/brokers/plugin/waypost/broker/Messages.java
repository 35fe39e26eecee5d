package waypost.broker;

import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.activemq.artemis.api.core.Message;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.core.filter.Filter;
import org.apache.activemq.artemis.core.message.LargeBodyReader;
import org.apache.activemq.artemis.core.postoffice.Binding;
import org.apache.activemq.artemis.core.server.ActiveMQServer;
import org.apache.activemq.artemis.core.server.LargeServerMessage;
import org.apache.activemq.artemis.core.server.MessageReference;
import org.apache.activemq.artemis.core.server.Queue;
import org.apache.activemq.artemis.core.server.impl.AddressInfo;
import org.apache.activemq.artemis.core.server.impl.QueueImpl;
import org.apache.activemq.artemis.json.JsonArrayBuilder;
import org.apache.activemq.artemis.json.JsonObjectBuilder;
import org.apache.activemq.artemis.protocol.amqp.broker.AMQPMessage;
import org.apache.activemq.artemis.protocol.amqp.broker.AMQPStandardMessage;
import org.apache.activemq.artemis.protocol.amqp.converter.CoreAmqpConverter;
import org.apache.activemq.artemis.selector.filter.Filterable;
import org.apache.activemq.artemis.utils.JsonLoader;
import org.apache.activemq.artemis.utils.collections.LinkedListIterator;
import org.apache.qpid.proton.codec.ReadableBuffer;

/**
 * Lists and moves stored messages, and counts what management moved and removed.
 *
 * A move adds to one queue's counter and acknowledges on another's, so metering subtracts these
 * counts. They begin with the process, as the broker's own counters do: a worker that is killed
 * loses none of them.
 */
public final class Messages implements MessagesMBean {

   private final ActiveMQServer server;
   private final Storage storage;
   private final Map<String, AtomicLong> counts = new ConcurrentHashMap<>();
   private final Walks walks = new Walks();

   Messages(ActiveMQServer server, Storage storage) {
      this.server = server;
      this.storage = storage;
   }

   void removed(Queue queue) {
      count("out:" + queue.getID());
   }

   void added(SimpleString address) {
      Queue queue = server.locateQueue(address);
      if (queue != null) {
         count("in:" + queue.getID());
         return;
      }
      AddressInfo topic = server.getAddressInfo(address);
      if (topic != null) {
         count("in:" + topic.getId());
      }
   }

   private void count(String key) {
      counts.computeIfAbsent(key, missing -> new AtomicLong()).incrementAndGet();
   }

   /** Returns {"in:id of queue or topic": number, "out:id of queue": number} as JSON. */
   @Override
   public String operated() {
      walks.closeIdle(); // metering asks every few seconds
      JsonObjectBuilder found = JsonLoader.createObjectBuilder();
      counts.forEach((key, number) -> found.add(key, number.get()));
      return found.build().toString();
   }

   /**
    * Returns a page of stored messages as JSON, in the order of the queue: {newest, messages}.
    * Messages younger than {@code newest} are left out; 0 takes all. A message has up to
    * {@code bytes} bytes of its AMQP encoding.
    */
   @Override
   public String list(String queue, long newest, int skip, int count, int bytes) throws Exception {
      long last = newest > 0 ? newest : server.getStorageManager().getCurrentID();
      JsonArrayBuilder page = JsonLoader.createArrayBuilder();
      Queue from = located(queue);
      int passed = 0;
      int taken = 0;
      try (LinkedListIterator<MessageReference> references = from.browserIterator()) {
         while (taken < count && references.hasNext()) {
            MessageReference reference = references.next();
            if (reference.getMessageID() > last || passed++ < skip) {
               continue;
            }
            page.add(row(reference, bytes));
            taken++;
         }
      }
      return JsonLoader.createObjectBuilder().add("newest", last).add("messages", page).build()
         .toString();
   }

   /**
    * Returns a page of stored messages as JSON: {reached, passed, last, more, messages}. It begins
    * after the message {@code after}, or after {@code skip} messages if that one is gone.
    *
    * {@code passed} and {@code last} are the position after the page; {@code more} says whether
    * messages follow. If the begin is not reached in {@code millis}, {@code reached} is false and
    * there are no messages. The same request goes on from there then.
    */
   @Override
   public String page(String queue, long after, int skip, int count, int bytes, int millis)
         throws Exception {
      Walks.Walk walk = walks.take(located(queue), after, skip);
      try {
         long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
         boolean isLate = false;
         while (!walk.isBehind(after, skip) && !isLate && walk.hasNext()) {
            walk.next();
            isLate = System.nanoTime() > until;
         }
         boolean isReached = walk.isBehind(after, skip) || !isLate;
         JsonArrayBuilder page = JsonLoader.createArrayBuilder();
         for (int taken = 0; isReached && taken < count && walk.hasNext(); taken++) {
            page.add(row(walk.next(), bytes));
         }
         boolean hasMore = walk.hasNext();
         JsonObjectBuilder found = JsonLoader.createObjectBuilder()
            .add("reached", isReached)
            .add("passed", walk.passed)
            .add("last", walk.last)
            .add("more", hasMore)
            .add("messages", page);
         if (hasMore) {
            walks.keep(walk, isReached ? walk.last : after, isReached ? walk.passed : skip);
            walk = null;
         }
         return found.build().toString();
      } finally {
         if (walk != null) {
            walk.close();
         }
      }
   }

   /** Stores a message at a queue or topic, from its AMQP encoding in base64. Not idempotent. */
   @Override
   public void send(String address, String encoded) throws Exception {
      SimpleString target = SimpleString.of(address);
      if (server.getAddressInfo(target) == null) {
         throw new IllegalArgumentException("there is no such address");
      }
      AMQPStandardMessage message =
         new AMQPStandardMessage(0, Base64.getDecoder().decode(encoded), null);
      message.setMessageID(server.getStorageManager().generateID());
      message.setAddress(target);
      storage.check(target, message);
      server.getPostOffice().route(message, false);
      added(target);
   }

   /** Moves a message to another queue; false if it is gone. A full queue refuses it. */
   @Override
   public boolean move(String queue, long id, String to) throws Exception {
      Binding target = server.getPostOffice().getBinding(SimpleString.of(to));
      if (target == null) {
         throw new IllegalArgumentException("there is no such queue");
      }
      Queue from = located(queue);
      One one = new One(id);
      return change(from, one, target.getAddress(),
         () -> from.moveReferences(1, one, target.getAddress(), false, 1, target));
   }

   /** Moves a dead letter to where it came from; false if it is gone. A full queue refuses it. */
   @Override
   public boolean resend(String queue, long id) throws Exception {
      Queue from = located(queue);
      One one = new One(id);
      return change(from, one, null, () -> from.retryMessages(one, 1));
   }

   /**
    * Does a move of one message. A refused move changes nothing.
    *
    * The broker counts the message as in delivery before it moves it, and forgets to undo that if
    * the other address is full. {@code to} is null if the message says where it came from.
    */
   private boolean change(Queue from, One one, SimpleString to, Callable<Integer> move)
         throws Exception {
      synchronized (from) {
         MessageReference stored = find(from, one);
         if (stored == null) {
            return false;
         }
         String origin = stored.getMessage().getAnnotationString(Message.HDR_ORIGINAL_ADDRESS);
         SimpleString target = to == null ? SimpleString.of(text(origin)) : to;
         storage.checkMove(target, stored.getMessage());
         int before = from.getDeliveringCount();
         try {
            return move.call() > 0;
         } catch (Exception error) {
            if (from.getDeliveringCount() > before) {
               ((QueueImpl) from).decDelivering(stored);
            }
            throw error;
         }
      }
   }

   private static MessageReference find(Queue queue, One one) {
      try (LinkedListIterator<MessageReference> references = queue.browserIterator()) {
         while (references.hasNext()) {
            MessageReference reference = references.next();
            if (one.match(reference.getMessage())) {
               return reference;
            }
         }
      }
      return null;
   }

   /** Matches the message with an id. */
   private record One(long id) implements Filter {

      @Override
      public boolean match(Message message) {
         return message.getMessageID() == id;
      }

      @Override
      public boolean match(Map<String, String> map) {
         return false;
      }

      @Override
      public boolean match(Filterable filterable) {
         return false;
      }

      @Override
      public SimpleString getFilterString() {
         return null;
      }
   }

   private Queue located(String name) {
      Queue queue = server.locateQueue(name);
      if (queue == null) {
         throw new IllegalArgumentException("there is no such queue");
      }
      return queue;
   }

   private JsonObjectBuilder row(MessageReference reference, int bytes) throws Exception {
      Message message = reference.getMessage();
      JsonObjectBuilder row = JsonLoader.createObjectBuilder()
         .add("id", reference.getMessageID())
         .add("from", text(message.getAnnotationString(Message.HDR_ORIGINAL_QUEUE)));
      if (bytes == 0) {
         return row;
      }
      return row.add("sent", message.getTimestamp())
         .add("expires", message.getExpiration())
         .add("durable", message.isDurable())
         .add("priority", (int) message.getPriority())
         .add("group", text(message.getGroupID()))
         .add("deliveries", reference.getDeliveryCount())
         .add("large", message.isLargeMessage())
         .add("size", size(message))
         .add("address", text(message.getAddress()))
         .add("fromAddress", text(message.getAnnotationString(Message.HDR_ORIGINAL_ADDRESS)))
         .add("encoded", Base64.getEncoder().encodeToString(encoded(message, reference, bytes)));
   }

   static long size(Message message) throws Exception {
      return message instanceof LargeServerMessage large
         ? large.getLargeBody().getBodySize() : message.getPersistentSize();
   }

   private byte[] encoded(Message message, MessageReference reference, int bytes) throws Exception {
      if (message.isLargeMessage()) {
         return message instanceof AMQPMessage ? begin((LargeServerMessage) message, bytes)
            : new byte[0];
      }
      AMQPMessage amqp = CoreAmqpConverter.checkAMQP(message, server.getStorageManager());
      ReadableBuffer buffer = amqp.getSendBuffer(1, reference);
      byte[] taken = new byte[Math.min(bytes, buffer.remaining())];
      buffer.get(taken);
      return taken;
   }

   private static byte[] begin(LargeServerMessage message, int bytes) throws Exception {
      LargeBodyReader reader = message.getLargeBody().getLargeBodyReader();
      reader.open();
      try {
         ByteBuffer taken = ByteBuffer.allocate((int) Math.min(bytes, reader.getSize()));
         reader.readInto(taken);
         return taken.array();
      } finally {
         reader.close();
      }
   }

   private static String text(Object value) {
      return value == null ? "" : value.toString();
   }
}
