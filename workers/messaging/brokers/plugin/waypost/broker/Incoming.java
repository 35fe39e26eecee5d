package waypost.broker;

import org.apache.activemq.artemis.protocol.amqp.exceptions.ActiveMQAMQPException;
import org.apache.activemq.artemis.protocol.amqp.proton.ProtonAbstractReceiver;
import org.apache.activemq.artemis.protocol.amqp.proton.ProtonDeliveryHandler;
import org.apache.qpid.proton.amqp.transport.ErrorCondition;
import org.apache.qpid.proton.amqp.transport.LinkError;
import org.apache.qpid.proton.engine.Delivery;
import org.apache.qpid.proton.engine.Receiver;

/**
 * Stands between a client's sender and the broker: measures messages while they arrive, and counts
 * them.
 *
 * A message that is too large ends the link before the broker has all of it. The broker then
 * deletes the file of what it has.
 */
final class Incoming implements ProtonDeliveryHandler {

   private final Receiver receiver;
   private final ProtonAbstractReceiver broker;
   private final long mostBytes;
   private final Runnable arrived;
   private final Pace pace;
   private Delivery counted;
   private long taken;  // bytes of the present message that the broker has taken already
   private boolean isOver;

   /**
    * {@code mostBytes}: the largest message; -1 is no limit. {@code arrived} runs after each
    * message that the broker has as a whole.
    */
   Incoming(Receiver receiver, ProtonAbstractReceiver broker, long mostBytes, Runnable arrived,
            Pace pace) {
      this.receiver = receiver;
      this.broker = broker;
      this.mostBytes = mostBytes;
      this.arrived = arrived;
      this.pace = pace;
   }

   @Override
   public void onMessage(Delivery delivery) throws ActiveMQAMQPException {
      if (receiver.current() != delivery) {
         return; // a change of a message that is complete
      }
      if (isOver) {
         discard(delivery);
         return;
      }
      int present = delivery.available();
      if (mostBytes >= 0 && taken + present > mostBytes) {
         refuse();
         discard(delivery);
         return;
      }
      boolean isComplete = !delivery.isPartial();
      broker.onMessage(delivery);
      // Of a message that it takes as a whole, the broker leaves the bytes where they are.
      taken = isComplete ? 0 : taken + present - delivery.available();
      if (isComplete && delivery != counted && !delivery.isAborted()) {
         counted = delivery;
         arrived.run();
         pace.count();
      }
   }

   private void refuse() throws ActiveMQAMQPException {
      isOver = true;
      broker.close(new ErrorCondition(LinkError.MESSAGE_SIZE_EXCEEDED,
         "The plan allows messages of " + mostBytes + " bytes."));
      receiver.close();
      broker.getConnection().flush();
   }

   /** Drops what still arrives, so that the session's window stays open for other links. */
   private void discard(Delivery delivery) {
      receiver.recv();
      if (!delivery.isPartial()) {
         receiver.advance();
         delivery.settle();
      }
   }

   @Override
   public void onFlow(int currentCredits, boolean drain) {
      if (!isOver) {
         broker.onFlow(currentCredits, drain);
      }
   }

   @Override
   public void close(boolean remoteLinkClose) throws ActiveMQAMQPException {
      broker.close(remoteLinkClose);
   }

   @Override
   public void close(ErrorCondition condition) throws ActiveMQAMQPException {
      broker.close(condition);
   }
}
