package waypost.broker;

import org.apache.activemq.artemis.api.core.ActiveMQAddressFullException;
import org.apache.activemq.artemis.api.core.ActiveMQException;
import org.apache.activemq.artemis.api.core.Message;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.core.paging.PagingStore;
import org.apache.activemq.artemis.core.postoffice.Binding;
import org.apache.activemq.artemis.core.postoffice.QueueBinding;
import org.apache.activemq.artemis.core.server.ActiveMQServer;
import org.apache.activemq.artemis.core.server.LargeServerMessage;
import org.apache.activemq.artemis.core.server.Queue;
import org.apache.activemq.artemis.core.settings.impl.AddressFullMessagePolicy;
import org.apache.activemq.artemis.core.settings.impl.AddressSettings;

/**
 * Refuses messages for which an address, or the address of its dead letters, has no space.
 *
 * The broker's own limit counts pages and no large messages, each of which is a file. Here pages and
 * files count together. And a dead letter is never refused, because it could stay nowhere else. So
 * an address whose dead letters have filled their address takes no more messages: everything that is
 * stored was sold.
 */
final class Storage {

   private final ActiveMQServer server;
   private final LargeFiles files;

   Storage(ActiveMQServer server, LargeFiles files) {
      this.server = server;
      this.files = files;
   }

   void check(SimpleString address, Message message) throws ActiveMQException {
      AddressSettings settings = settingsOf(address);
      checkTarget(address, settings.getDeadLetterAddress());
      checkTarget(address, settings.getExpiryAddress());
      Long limit = settings.getPageLimitBytes();
      if (limit == null || limit < 0) {
         return;
      }
      if (message instanceof LargeServerMessage large) {
         checkLarge(address, large, limit);
         return;
      }
      if (settings.getAddressFullMessagePolicy() == AddressFullMessagePolicy.BLOCK) {
         return; // it takes what its senders have credit for, and refuses nothing
      }
      // The memory of the address comes on top of its pages, here as in the broker's own limit.
      long memory = Math.max(0, settings.getMaxSizeBytes());
      if (unread(address) >= limit + memory
         || files.areMoreThan(address, limit - pageBytes(server, address))) {
         throw full(address, limit);
      }
   }

   /** Refuses a message of another queue that is to move to the address; counts nothing. */
   void checkMove(SimpleString address, Message message) throws Exception {
      AddressSettings settings = settingsOf(address);
      Long limit = settings.getPageLimitBytes();
      if (limit == null || limit < 0) {
         return;
      }
      PagingStore store = server.getPagingManager().getPageStore(address);
      boolean hasRoom = message instanceof LargeServerMessage
         ? unread(address) + Messages.size(message) <= limit
         : unread(address) < limit + Math.max(0, settings.getMaxSizeBytes());
      if (!hasRoom || store.isPageFull()
         || files.areMoreThan(address, limit - pageBytes(server, address))) {
         throw full(address, limit);
      }
   }

   /** Also counts the message, so that messages that arrive at the same time do not exceed it. */
   private void checkLarge(SimpleString address, LargeServerMessage message, long limit)
      throws ActiveMQException {
      try {
         long size = Messages.size(message.toMessage());
         if (unread(address) + size > limit
            || !files.add(address, message, limit - pageBytes(server, address))) {
            message.deleteFile();
            throw full(address, limit);
         }
         files.dividePages(address, server.getPagingManager().getPageStore(address), limit);
      } catch (ActiveMQException error) {
         throw error;
      } catch (Exception error) {
         throw new IllegalStateException(error);
      }
   }

   /**
    * The bytes that were sent to the address and not received: those of its fullest queue.
    *
    * So messages that are bigger than a page count whole. The broker behind a router stores even the
    * largest ones in one piece. Subscriptions of a topic may have different messages, but the pages
    * and files that the topic's messages share are counted too.
    */
   private long unread(SimpleString address) {
      Queue own = server.locateQueue(address);
      if (own != null && own.getAddress().equals(address)) {
         return own.getPersistentSize();
      }
      long most = 0;
      try {
         for (Binding binding : server.getPostOffice().getDirectBindings(address)) {
            if (binding instanceof QueueBinding queue) {
               most = Math.max(most, queue.getQueue().getPersistentSize());
            }
         }
      } catch (Exception error) {
         throw new IllegalStateException(error);
      }
      return most;
   }

   /** The bytes of the address's pages, also of messages on them that were received already. */
   static long pageBytes(ActiveMQServer server, SimpleString address) {
      try {
         PagingStore store = server.getPagingManager().getPageStore(address);
         return store == null ? 0 : store.getNumberOfPages() * store.getPageSizeBytes();
      } catch (Exception error) {
         throw new IllegalStateException(error);
      }
   }

   private void checkTarget(SimpleString address, SimpleString target)
      throws ActiveMQAddressFullException {
      if (target == null || target.isEmpty()) {
         return;
      }
      // An address for dead letters has its size here (address_settings.settings_of).
      long limit = settingsOf(target).getAutoDeleteQueuesMessageCount();
      Queue queue = limit > 0 ? server.locateQueue(target) : null;
      if (queue != null && queue.getPersistentSize() >= limit) {
         throw new ActiveMQAddressFullException("The dead letters of " + address + " have filled "
            + target + " (" + limit + " bytes): receive, resend or purge them first.");
      }
   }

   private AddressSettings settingsOf(SimpleString address) {
      return server.getAddressSettingsRepository().getMatch(address.toString());
   }

   private static ActiveMQAddressFullException full(SimpleString address, long limit) {
      return new ActiveMQAddressFullException("Address " + address + " is full: it stores " + limit
         + " bytes.");
   }
}
