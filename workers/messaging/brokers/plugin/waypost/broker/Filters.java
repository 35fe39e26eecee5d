package waypost.broker;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import javax.security.auth.Subject;

import org.apache.activemq.artemis.api.core.ActiveMQAddressFullException;
import org.apache.activemq.artemis.api.core.ActiveMQException;
import org.apache.activemq.artemis.api.core.ActiveMQSecurityException;
import org.apache.activemq.artemis.api.core.QueueConfiguration;
import org.apache.activemq.artemis.api.core.RoutingType;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.core.paging.PagingStore;
import org.apache.activemq.artemis.core.paging.cursor.PageSubscription;
import org.apache.activemq.artemis.core.postoffice.Binding;
import org.apache.activemq.artemis.core.postoffice.PostOffice;
import org.apache.activemq.artemis.core.postoffice.impl.LocalQueueBinding;
import org.apache.activemq.artemis.core.security.SecurityAuth;
import org.apache.activemq.artemis.core.server.ActiveMQServer;
import org.apache.activemq.artemis.core.server.MessageReference;
import org.apache.activemq.artemis.core.server.Queue;
import org.apache.activemq.artemis.core.server.ServerConsumer;
import org.apache.activemq.artemis.core.server.ServerSession;
import org.apache.activemq.artemis.core.server.impl.AddressInfo;
import org.apache.activemq.artemis.spi.core.security.jaas.RolePrincipal;
import org.apache.qpid.proton.amqp.Symbol;
import org.apache.qpid.proton.amqp.messaging.DeliveryAnnotations;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Subscriptions to all topics whose names a filter matches (docs/adr/0020).
 *
 * A filter is a multicast address, such as {@code news/#}, to which nobody sends. Each subscription
 * is a queue on it, as on a topic. The plugin binds this queue to each topic that the filter
 * matches, and to nothing else: no queue, no reply queue and no internal address. A user may read a
 * filter only if one of the user's own patterns covers it ({@link Patterns#covers}), so each message
 * that a filter delivers may be read by its reader anyway.
 *
 * Whatever changes bindings holds the lock of the post office, which the broker holds too while it
 * calls the plugin about an address or a binding.
 */
final class Filters {

   /** Before the pattern in the names of roles: what a user may read. */
   static final String READS = "waypost-reads-";
   private static final int MOST_SUBSCRIPTIONS = 100;
   private static final int MOST_FILTERS = 200;  // some of them are about to end
   private static final long MOST_BYTES = 8_388_608;  // of one subscription
   /** Of all subscriptions together. Placement keeps it free (plans/catalog/definitions.py). */
   private static final long MOST_BYTES_OF_ALL = 100_663_296;
   /** The part of the message memory that all may fill if the broker has no disk. */
   private static final int PARTS_OF_MEMORY = 8;
   /** Longer than it takes from the event that makes a filter's address to that of its queue. */
   private static final long UNUSED_NANOS = TimeUnit.SECONDS.toNanos(5);
   private static final Symbol TOPIC = Symbol.valueOf("x-opt-waypost-topic");
   private static final Logger LOG = LoggerFactory.getLogger(Filters.class);

   private final ActiveMQServer server;
   private final Map<Long, Queue> subscriptions = new ConcurrentHashMap<>();
   private final Map<SimpleString, Set<Queue>> byTopic = new ConcurrentHashMap<>();
   private final Map<SimpleString, Long> lastUsed = new ConcurrentHashMap<>();  // by filter

   Filters(ActiveMQServer server) {
      this.server = server;
   }

   static boolean isFilter(SimpleString address) {
      return address != null && Patterns.isFilter(address.toString());
   }

   /** Whether one of the user's own patterns covers the filter now; reads the user's roles again. */
   boolean mayRead(SecurityAuth login, SimpleString filter) {
      Subject subject = server.getSecurityStore().getSessionSubject(login);
      return subject != null && subject.getPrincipals(RolePrincipal.class).stream()
         .map(RolePrincipal::getName)
         .filter(role -> role.startsWith(READS))
         .anyMatch(role -> Patterns.covers(role.substring(READS.length()), filter.toString()));
   }

   /**
    * Makes the address of a filter, which a subscription needs before it can be created. Without it
    * the broker finds no such address; so a client cannot fill the broker with filters.
    */
   void prepare(SimpleString filter) throws Exception {
      if (server.getAddressInfo(filter) != null) {
         lastUsed.put(filter, System.nanoTime());
      } else if (lastUsed.size() < MOST_FILTERS) {
         lastUsed.put(filter, System.nanoTime());
         server.addAddressInfo(new AddressInfo(filter, RoutingType.MULTICAST));
      }
   }

   /** Refuses a queue that {@link FilterLinks} did not see, as of a link that is attached again. */
   void checkCreation(QueueConfiguration queue) throws ActiveMQException {
      String user = queue.getUser() == null ? null : queue.getUser().toString();
      boolean isAllowed = Replies.isClient(user) && server.getSessions().stream()
         .filter(session -> user.equals(session.getValidatedUser()))
         .anyMatch(session -> mayRead(session, queue.getAddress()));
      if (!isAllowed) {
         throw refusal(queue.getAddress());
      }
      if (subscriptions.size() >= MOST_SUBSCRIPTIONS) {
         throw new ActiveMQAddressFullException("A space has at most " + MOST_SUBSCRIPTIONS
            + " subscriptions to filters: end one that is not needed.");
      }
   }

   /** Closes a consumer whose user may not read the filter, whatever way it found the queue. */
   void checkConsumer(ServerConsumer consumer) throws ActiveMQException {
      ServerSession session = server.getSessionByID(consumer.getSessionID());
      SimpleString filter = consumer.getQueue().getAddress();
      if (session != null && Replies.isClient(session.getValidatedUser())
         && !mayRead(session, filter)) {
         Replies.close(consumer);
         throw refusal(filter);
      }
   }

   /**
    * Refuses to end a durable subscription of others. Its name is that of a link, and the broker
    * ends one that is attached again with another address.
    */
   void checkEnd(Queue queue, SecurityAuth login) throws ActiveMQException {
      if (queue.isDurable() && login != null && Replies.isClient(login.getUsername())
         && !mayRead(login, queue.getAddress())) {
         throw refusal(queue.getAddress());
      }
   }

   /**
    * Refuses a message to a topic if a subscription to a filter cannot store it.
    *
    * The file of a large message counts against the topic (LargeFiles), and not here.
    */
   void checkRoom(SimpleString topic) throws Exception {
      Set<Queue> queues = byTopic.getOrDefault(topic, Set.of());
      if (!queues.isEmpty() && stored() >= mostOfAll()) {
         throw new ActiveMQAddressFullException("The subscriptions to filters hold " + mostOfAll()
            + " bytes that nobody has read: read them, or end subscriptions.");
      }
      for (Queue queue : queues) {
         if (queue.getPersistentSize() >= MOST_BYTES) {
            throw new ActiveMQAddressFullException("A subscription to " + queue.getAddress()
               + " holds " + MOST_BYTES + " bytes that nobody has read.");
         }
      }
   }

   private long mostOfAll() {
      return server.getConfiguration().isPersistenceEnabled() ? MOST_BYTES_OF_ALL
         : server.getConfiguration().getGlobalMaxSize() / PARTS_OF_MEMORY;
   }

   /**
    * The bytes that all subscriptions store: the pages of their filters, and what is not on pages.
    *
    * A filter pages only once the message memory of the whole broker is full. What is not on pages
    * the broker stores once for all subscriptions, and counts it at the topic.
    */
   private long stored() throws Exception {
      Set<SimpleString> filters = new HashSet<>();
      long pages = 0;
      long unpaged = 0;
      for (Queue queue : subscriptions.values()) {
         PageSubscription paged = queue.getPageSubscription();
         unpaged += Math.min(MOST_BYTES,
            queue.getPersistentSize() - (paged == null ? 0 : paged.getPersistentSize()));
         if (filters.add(queue.getAddress())) {
            pages += Storage.pageBytes(server, queue.getAddress());
         }
      }
      long memory = 0;
      for (SimpleString topic : byTopic.keySet()) {
         PagingStore store = server.getPagingManager().getPageStore(topic);
         memory += store == null ? 0 : store.getAddressSize();
      }
      return pages + Math.min(unpaged, memory);
   }

   /** Tells the subscriber to a filter which topic a message was sent to. */
   void mark(MessageReference reference) {
      if (subscriptions.containsKey(reference.getQueue().getID())) {
         reference.setProtocolData(DeliveryAnnotations.class,
            new DeliveryAnnotations(Map.of(TOPIC, reference.getMessage().getAddress())));
      }
   }

   void bindingAdded(Binding binding) throws Exception {
      if (binding instanceof LocalQueueBinding own && isFilter(own.getAddress())) {
         lastUsed.put(own.getAddress(), System.nanoTime());
         subscriptions.put(own.getQueue().getID(), own.getQueue());
         for (SimpleString name : server.getPostOffice().getAddresses()) {
            bind(own.getQueue(), server.getPostOffice().getAddressInfo(name));
         }
      }
   }

   void bindingRemoved(Binding binding) throws Exception {
      if (binding instanceof LocalQueueBinding own && isFilter(own.getAddress())) {
         lastUsed.put(own.getAddress(), System.nanoTime());
         subscriptions.remove(own.getQueue().getID());
         for (SimpleString topic : byTopic.keySet()) {
            unbind(own.getQueue(), topic);
         }
      }
   }

   /** Also runs for each address that the broker restores at its start. */
   void addressAdded(AddressInfo address) throws Exception {
      if (isFilter(address.getName())) {
         lastUsed.put(address.getName(), System.nanoTime());
      }
      for (Queue queue : subscriptions.values()) {
         bind(queue, address);
      }
   }

   /** The broker deletes an address only without bindings. */
   void addressLeaves(SimpleString address) throws Exception {
      for (Queue queue : byTopic.getOrDefault(address, Set.of())) {
         unbind(queue, address);
      }
      lastUsed.remove(address);
   }

   private void bind(Queue queue, AddressInfo topic) throws Exception {
      PostOffice office = server.getPostOffice();
      synchronized (office) {
         if (topic == null || !isTopic(topic)
            || !Patterns.covers(queue.getAddress().toString(), topic.getName().toString())
            || office.getBinding(TopicBinding.nameOf(queue, topic.getName())) != null) {
            return;
         }
         long id = server.getStorageManager().generateID();
         office.addBinding(new TopicBinding(id, topic.getName(), queue));
         byTopic.computeIfAbsent(topic.getName(), name -> ConcurrentHashMap.newKeySet()).add(queue);
      }
   }

   private void unbind(Queue queue, SimpleString topic) throws Exception {
      PostOffice office = server.getPostOffice();
      synchronized (office) {
         SimpleString name = TopicBinding.nameOf(queue, topic);
         if (office.getBinding(name) != null) {
            office.removeBinding(name, null, false);
         }
         byTopic.computeIfPresent(topic, (key, queues) -> {
            queues.remove(queue);
            return queues.isEmpty() ? null : queues;
         });
      }
   }

   /** Whether it is a topic of the tenant. */
   private static boolean isTopic(AddressInfo address) {
      String name = address.getName().toString();
      return address.getRoutingTypes().contains(RoutingType.MULTICAST)
         && !address.getRoutingTypes().contains(RoutingType.ANYCAST)
         && !address.isTemporary() && !address.isInternal() && !Patterns.isFilter(name)
         && !name.startsWith("$") && !name.startsWith("activemq.");
   }

   /** Deletes the addresses of filters without a subscription. */
   void sweep() {
      for (Map.Entry<SimpleString, Long> filter : lastUsed.entrySet()) {
         boolean isUsed = subscriptions.values().stream()
            .anyMatch(queue -> queue.getAddress().equals(filter.getKey()));
         if (isUsed || System.nanoTime() - filter.getValue() < UNUSED_NANOS) {
            continue;
         }
         try {
            server.removeAddressInfo(filter.getKey(), null);
         } catch (Exception error) { // somebody has subscribed since
            LOG.debug("The filter {} stays", filter.getKey(), error);
         }
      }
   }

   private static ActiveMQException refusal(SimpleString filter) {
      return new ActiveMQSecurityException("You may not read every topic that " + filter
         + " matches.");
   }
}
