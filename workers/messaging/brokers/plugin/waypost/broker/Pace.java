package waypost.broker;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import org.apache.activemq.artemis.protocol.amqp.proton.ProtonAbstractReceiver;

/**
 * Slows down one sender of a client whose connection or user sends faster than the plan allows.
 *
 * The broker then gives the sender no credit until the debt is paid. It still takes the messages
 * that the sender has credit for. No thread waits.
 */
final class Pace {

   private final ProtonAbstractReceiver context;
   private final Rate connection;
   private final Rate user;
   private final ScheduledExecutorService timer;

   Pace(ProtonAbstractReceiver context, Rate connection, Rate user,
        ScheduledExecutorService timer) {
      this.context = context;
      this.connection = connection;
      this.user = user;
      this.timer = timer;
   }

   /** Counts a message that has arrived. Runs on the connection's thread, as all methods do. */
   void count() {
      connection.count();
      user.count();
      if (debt() > 0 && context.isStarted()) {
         // 0: it may take as long as the client needs to use up the credit that it has.
         context.stop(0, (stopped, done) -> resumeLater());
      }
   }

   private void resumeLater() {
      timer.schedule(() -> context.getConnection().runLater(this::resume), debt(),
         TimeUnit.NANOSECONDS);
   }

   private void resume() {
      if (!context.isStopped()) {
         return; // the link has ended
      }
      if (debt() > 0) {
         resumeLater(); // another connection of the same user has sent meanwhile
         return;
      }
      context.start();
      context.getConnection().flush();
   }

   private long debt() {
      return Math.max(connection.debt(), user.debt());
   }
}
