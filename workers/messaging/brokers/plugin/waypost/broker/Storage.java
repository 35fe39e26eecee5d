package waypost.broker;

import org.apache.activemq.artemis.api.core.ActiveMQAddressFullException;
import org.apache.activemq.artemis.api.core.ActiveMQException;
import org.apache.activemq.artemis.api.core.Message;
import org.apache.activemq.artemis.api.core.SimpleString;
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
 * The broker's own limit counts pages and no large messages, each of which is a file. And a dead
 * letter is never refused, because it could stay nowhere else. So an address whose dead letters have
 * filled their address takes no more messages: everything that is stored was sold.
 */
final class Storage {

   private final ActiveMQServer server;

   Storage(ActiveMQServer server) {
      this.server = server;
   }

   void check(SimpleString address, Message message) throws ActiveMQException {
      AddressSettings settings = settingsOf(address);
      checkTarget(address, settings.getDeadLetterAddress());
      checkTarget(address, settings.getExpiryAddress());
      Long limit = settings.getPageLimitBytes();
      if (limit == null || limit < 0) {
         return;
      }
      if (message.isLargeMessage()) {
         checkLarge(address, message, limit);
         return;
      }
      if (settings.getAddressFullMessagePolicy() == AddressFullMessagePolicy.BLOCK) {
         return; // it takes what its senders have credit for, and refuses nothing
      }
      Queue queue = server.locateQueue(address);
      // The memory of the address comes on top of its pages, here as in the broker's own limit.
      long memory = Math.max(0, settings.getMaxSizeBytes());
      if (queue != null && queue.getPersistentSize() >= limit + memory) {
         throw full(address, limit);
      }
   }

   /** A topic's message counts once for each subscription that has not received it yet. */
   private void checkLarge(SimpleString address, Message message, long limit)
      throws ActiveMQException {
      long stored = 0;
      try {
         for (Binding binding : server.getPostOffice().getDirectBindings(address)) {
            if (binding instanceof QueueBinding queue) {
               stored += queue.getQueue().getPersistentSize();
            }
         }
         if (stored + Messages.size(message) > limit) {
            ((LargeServerMessage) message).deleteFile();
            throw full(address, limit);
         }
      } catch (ActiveMQException error) {
         throw error;
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
