package waypost.broker;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.apache.activemq.artemis.core.server.MessageReference;
import org.apache.activemq.artemis.core.server.Queue;
import org.apache.activemq.artemis.utils.collections.LinkedListIterator;

/**
 * Keeps the iterators of pages of messages open, so that the next page goes on where one ended.
 *
 * A queue has no index: the broker reaches a position only by reading every message before it, also
 * those on disk. An open iterator keeps one page file in memory, so only a few stay open, and only
 * for some minutes. The broker's own browsers keep such iterators too.
 */
final class Walks {

   private static final int MOST = 4;
   private static final long IDLE_NANOS = TimeUnit.MINUTES.toNanos(3);

   private final List<Walk> open = new ArrayList<>(); // the one that was used longest ago first

   /** A way through a queue: how many messages it has passed, and the id of the last one. */
   static final class Walk {

      private final Queue queue;
      private final LinkedListIterator<MessageReference> iterator;
      private long usedAt;
      private long after; // the position that it is kept for
      private int skip;
      int passed;
      long last;

      private Walk(Queue queue) {
         this.queue = queue;
         this.iterator = queue.browserIterator();
      }

      /** Returns whether the message {@code after} was the last, or {@code skip} were passed. */
      boolean isBehind(long after, int skip) {
         return passed >= skip || after > 0 && last == after;
      }

      boolean hasNext() {
         // The broker's own browsers take the queue's monitor for each step.
         synchronized (queue) {
            return iterator.hasNext();
         }
      }

      MessageReference next() {
         synchronized (queue) {
            MessageReference reference = iterator.next();
            passed++;
            last = reference.getMessageID();
            return reference;
         }
      }

      void close() {
         synchronized (queue) {
            iterator.close();
         }
      }
   }

   /**
    * Returns the walk that was kept for the position, or a new one. It belongs to the caller, who
    * closes it or hands it to {@link #keep}.
    *
    * A walk that was kept for another position is of no use: it has counted messages that may be
    * gone now. The first page always begins a new walk.
    */
   synchronized Walk take(Queue queue, long after, int skip) {
      closeIdle();
      for (Walk walk : open) {
         if (skip > 0 && walk.queue == queue && walk.after == after && walk.skip == skip) {
            open.remove(walk);
            return walk;
         }
      }
      return new Walk(queue);
   }

   /**
    * Keeps a walk for a later request of the position, which it has reached or is on the way to.
    * Closes the walk that was used longest ago if there are many.
    */
   synchronized void keep(Walk walk, long after, int skip) {
      walk.usedAt = System.nanoTime();
      walk.after = after;
      walk.skip = skip;
      open.add(walk);
      if (open.size() > MOST) {
         open.remove(0).close();
      }
   }

   /** Closes the walks that nobody has used for some minutes. */
   synchronized void closeIdle() {
      long now = System.nanoTime();
      open.removeIf(walk -> {
         boolean isIdle = now - walk.usedAt > IDLE_NANOS;
         if (isIdle) {
            walk.close();
         }
         return isIdle;
      });
   }
}
