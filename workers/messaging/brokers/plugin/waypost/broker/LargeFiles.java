package waypost.broker;

import java.io.File;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.activemq.artemis.api.core.Message;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.core.io.SequentialFile;
import org.apache.activemq.artemis.core.paging.PagedMessage;
import org.apache.activemq.artemis.core.paging.PagingStore;
import org.apache.activemq.artemis.core.paging.impl.Page;
import org.apache.activemq.artemis.core.postoffice.Binding;
import org.apache.activemq.artemis.core.postoffice.impl.LocalQueueBinding;
import org.apache.activemq.artemis.core.server.ActivateCallback;
import org.apache.activemq.artemis.core.server.ActiveMQServer;
import org.apache.activemq.artemis.core.server.LargeServerMessage;
import org.apache.activemq.artemis.core.server.MessageReference;
import org.apache.activemq.artemis.core.server.Queue;
import org.apache.activemq.artemis.utils.CompositeAddress;
import org.apache.activemq.artemis.utils.collections.LinkedListIterator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the bytes of the files of large messages, by the address that a message was sent to.
 *
 * The broker has no such figure. A queue's figure counts a message until it is received; the file
 * stays until all subscriptions have received the message, and all others on the same page. The
 * broker does not announce the deletion of a file, so this looks which files still exist.
 */
final class LargeFiles {

   /** A new page begins when the large messages on one have this part of the address's limit. */
   private static final int PARTS = 16;
   /** A smaller limit than this many pages is not divided: the pages themselves would fill it. */
   private static final int FEW_PAGES = 64;
   /** A count is repeated after this many times what it took, so that it never takes much time. */
   private static final int PAUSES = 20;
   private static final Logger LOG = LoggerFactory.getLogger(LargeFiles.class);

   private final ActiveMQServer server;
   private final Map<SimpleString, Known> byAddress = new ConcurrentHashMap<>();
   /** Files of before the start whose addresses are not known yet: name to bytes. */
   private final Map<String, Long> unknown = new ConcurrentHashMap<>();
   private final AtomicLong unknownBytes = new AtomicLong();

   LargeFiles(ActiveMQServer server) {
      this.server = server;
      File[] found = server.getConfiguration().getLargeMessagesLocation().listFiles();
      for (File file : found == null ? new File[0] : found) {
         unknown.put(file.getName(), file.length());
         unknownBytes.addAndGet(file.length());
      }
      if (!unknown.isEmpty()) {
         server.registerActivateCallback(new Recovery());
      }
   }

   /** The existing files of one address. */
   private static final class Known {

      private final Map<String, File> files = new HashMap<>();
      private long bytes;
      private int counted;
      private long countAgainAt = System.nanoTime();
      private long sincePage;

      synchronized boolean add(File file, long size, long allowed) {
         if (files.containsKey(file.getName())) {
            return true;
         }
         if (bytes(allowed - size) + size > allowed) {
            return false;
         }
         files.put(file.getName(), file);
         bytes += size;
         sincePage += size;
         if (files.size() > 2 * counted + PARTS) {
            count();
         }
         return true;
      }

      /** Counts again if there seem to be more than {@code allowed}. */
      synchronized long bytes(long allowed) {
         if (bytes > allowed && System.nanoTime() - countAgainAt >= 0) {
            count();
         }
         return bytes;
      }

      synchronized boolean fillsPage(long most) {
         if (sincePage < most) {
            return false;
         }
         sincePage = 0;
         return true;
      }

      private void count() {
         long began = System.nanoTime();
         bytes = 0;
         for (Iterator<File> each = files.values().iterator(); each.hasNext();) {
            long length = each.next().length();  // 0 if there is no such file
            bytes += length;
            if (length == 0) {
               each.remove();
            }
         }
         counted = files.size();
         countAgainAt = System.nanoTime() + PAUSES * (System.nanoTime() - began);
      }
   }

   /** Whether the files of the address have more bytes than {@code allowed}; none never have. */
   boolean areMoreThan(SimpleString address, long allowed) {
      Known known = byAddress.get(address);
      long others = unknownBytes.get();
      long bytes = others + (known == null ? 0 : known.bytes(allowed - others));
      return bytes > 0 && bytes > allowed;
   }

   /**
    * Counts the file of a message that is about to be stored.
    *
    * @return false, and does not count it, if there would be more bytes than {@code allowed}
    */
   boolean add(SimpleString address, LargeServerMessage message, long allowed) throws Exception {
      File file = fileOf(message);
      long size = message.getLargeBody().getBodySize();
      return file == null || byAddress.computeIfAbsent(address, name -> new Known())
         .add(file, size, allowed - unknownBytes.get());
   }

   /** Counts a message that the broker or an operator moved: it is never refused. */
   void moved(Message message) throws Exception {
      if (message instanceof LargeServerMessage large && message.getAddressSimpleString() != null) {
         add(CompositeAddress.extractAddressName(message.getAddressSimpleString()), large,
            Long.MAX_VALUE);
      }
   }

   /**
    * Begins a new page if the current one has many bytes of large messages.
    *
    * A page has place for hundreds of large messages, and their files stay until all of them are
    * received: without this, one message that nobody receives would keep all these files.
    */
   void dividePages(SimpleString address, PagingStore store, long limit) {
      Known known = byAddress.get(address);
      if (known == null || !store.isPaging() || limit / store.getPageSizeBytes() < FEW_PAGES
         || !known.fillsPage(limit / PARTS)) {
         return;
      }
      store.execute(() -> {
         try {
            if (store.isPaging()) {
               store.forceAnotherPage();
            }
         } catch (Exception error) {
            LOG.warn("The page of {} goes on", address, error);
         }
      });
   }

   /** The file of a large message; null if the broker keeps it in memory. */
   private static File fileOf(LargeServerMessage message) {
      if (message.getLargeBody() == null) {
         return null;
      }
      SequentialFile file = message.getLargeBody().createFile();
      return file == null ? null : file.getJavaFile();
   }

   /**
    * Finds the addresses of the files that were there when the broker started.
    *
    * Until they are found, all these files count against every address. The messages in memory are
    * found before a client connects, those on pages a little later.
    */
   private final class Recovery implements ActivateCallback {

      @Override
      public void activated() {
         for (Binding binding : server.getPostOffice().getAllBindings().toList()) {
            if (binding instanceof LocalQueueBinding local) {
               findIn(local.getQueue());
            }
         }
         Thread reader = new Thread(this::findOnPages, "waypost-large-files");
         reader.setDaemon(true);
         reader.start();
      }

      private void findIn(Queue queue) {
         try (LinkedListIterator<MessageReference> messages = queue.iterator()) {
            while (messages.hasNext()) {
               found(messages.next().getMessage());
            }
         }
         queue.getScheduledMessages().forEach(reference -> found(reference.getMessage()));
      }

      private void findOnPages() {
         try {
            for (SimpleString name : server.getPagingManager().getStoreNames()) {
               PagingStore store = server.getPagingManager().getPageStore(name);
               long last = store.isPaging() ? store.getCurrentWritingPage() : -1;
               for (long page = store.getFirstPage(); page <= last && !unknown.isEmpty(); page++) {
                  findOn(store.newPageObject(page));
               }
            }
         } catch (Exception error) {
            LOG.warn("Some files of large messages do not count: {}", unknown.keySet(), error);
         }
         unknown.clear();
         unknownBytes.set(0);
      }

      private void findOn(Page page) throws Exception {
         if (!page.getFile().exists()) {
            return;
         }
         page.open(false);
         try {
            for (LinkedListIterator<PagedMessage> read =
                    page.read(server.getStorageManager()).iterator(); read.hasNext();) {
               found(read.next().getMessage());
            }
         } finally {
            page.close(false, false);
         }
      }

      private void found(Message message) {
         if (!(message instanceof LargeServerMessage large)) {
            return;
         }
         try {
            File file = fileOf(large);
            Long size = file == null ? null : unknown.remove(file.getName());
            if (size != null) {
               moved(message);
               unknownBytes.addAndGet(-size);
            }
         } catch (Exception error) {
            LOG.warn("The file of message {} does not count", message.getMessageID(), error);
         }
      }
   }
}
