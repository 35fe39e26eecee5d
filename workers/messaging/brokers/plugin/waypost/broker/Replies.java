package waypost.broker;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.activemq.artemis.api.core.ActiveMQAddressFullException;
import org.apache.activemq.artemis.api.core.ActiveMQException;
import org.apache.activemq.artemis.api.core.ActiveMQSecurityException;
import org.apache.activemq.artemis.api.core.QueueConfiguration;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.core.server.ActiveMQServer;
import org.apache.activemq.artemis.core.server.Queue;
import org.apache.activemq.artemis.core.server.ServerConsumer;
import org.apache.activemq.artemis.core.server.ServerSession;

/**
 * Limits clients to reply queues wherever broker.xml gives them the role {@link #ROLE}.
 *
 * A reply queue is a temporary queue on an address of the same random name. The broker names it, so
 * no exact permission can be written for it: the role has permissions on every address that has
 * none of its own. There, clients may create reply queues and send to them, and the user who
 * created one may read it. Nothing else that is there is open to them.
 */
final class Replies {

   static final String ROLE = "waypost-replies";
   private static final String INTERNAL = "waypost";  // no messaging user's name begins with it
   private static final int MOST_QUEUES = 1000;
   private static final long MOST_BYTES = 1_048_576;

   private final ActiveMQServer server;
   private final Map<SimpleString, String> owners = new ConcurrentHashMap<>();

   Replies(ActiveMQServer server) {
      this.server = server;
   }

   void checkCreation(QueueConfiguration queue) throws ActiveMQException {
      String user = text(queue.getUser());
      if (!isClient(user) || !isOpen(queue.getAddress())) {
         return;
      }
      if (!isReply(queue.isTemporary(), queue.getName(), queue.getAddress())) {
         throw refusal(queue.getAddress());
      }
      if (owners.size() >= MOST_QUEUES) {
         throw new ActiveMQAddressFullException("A space has at most " + MOST_QUEUES
            + " reply queues: close receivers that wait for no answer.");
      }
   }

   void created(Queue queue) {
      String user = text(queue.getUser());
      if (isClient(user) && isReply(queue.isTemporary(), queue.getName(), queue.getAddress())) {
         owners.put(queue.getName(), user);
      }
   }

   void destroyed(Queue queue) {
      owners.remove(queue.getName());
   }

   /** Closes a consumer that may not be. The broker tells only now whose consumer it is. */
   void checkConsumer(ServerConsumer consumer) throws ActiveMQException {
      ServerSession session = server.getSessionByID(consumer.getSessionID());
      String user = session == null ? null : session.getValidatedUser();
      SimpleString address = consumer.getQueue().getAddress();
      if (isClient(user) && isOpen(address) && !user.equals(owners.get(address))) {
         close(consumer);
         throw refusal(address);
      }
   }

   static void close(ServerConsumer consumer) {
      try {
         consumer.close(false);
      } catch (Exception error) {
         throw new IllegalStateException(error); // the session ends, and the consumer with it
      }
   }

   void checkMessage(ServerSession session, SimpleString address) throws ActiveMQException {
      if (!isClient(session.getValidatedUser()) || !isOpen(address)) {
         return;
      }
      if (!owners.containsKey(address)) {
         throw refusal(address);
      }
      if (sizeOf(address) >= MOST_BYTES) {
         throw new ActiveMQAddressFullException("A reply queue holds " + MOST_BYTES
            + " bytes that nobody has read.");
      }
   }

   /** The bodies of large messages count too; in the memory of the address they do not. */
   private long sizeOf(SimpleString address) {
      Queue queue = server.locateQueue(address);
      return queue == null ? 0 : queue.getPersistentSize();
   }

   private boolean isOpen(SimpleString address) {
      return server.getSecurityRepository().getMatch(address.toString()).stream()
         .anyMatch(role -> role.getName().equals(ROLE));
   }

   static boolean isClient(String user) {
      return user != null && !user.startsWith(INTERNAL);
   }

   private static boolean isReply(Boolean isTemporary, SimpleString name, SimpleString address) {
      return Boolean.TRUE.equals(isTemporary) && name.equals(address);
   }

   private static String text(SimpleString user) {
      return user == null ? null : user.toString();
   }

   private static ActiveMQException refusal(SimpleString address) {
      return new ActiveMQSecurityException("There is no address " + address + " for you.");
   }
}
