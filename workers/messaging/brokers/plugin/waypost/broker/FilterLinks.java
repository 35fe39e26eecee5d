package waypost.broker;

import org.apache.activemq.artemis.api.core.ParameterisedAddress;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.protocol.amqp.proton.AMQPConnectionContext;
import org.apache.activemq.artemis.protocol.amqp.proton.AmqpSupport;
import org.apache.activemq.artemis.protocol.amqp.proton.handler.EventHandler;
import org.apache.activemq.artemis.utils.CompositeAddress;
import org.apache.qpid.proton.amqp.Symbol;
import org.apache.qpid.proton.amqp.messaging.Source;
import org.apache.qpid.proton.amqp.messaging.Target;
import org.apache.qpid.proton.amqp.transport.AmqpError;
import org.apache.qpid.proton.amqp.transport.ErrorCondition;
import org.apache.qpid.proton.engine.Link;
import org.apache.qpid.proton.engine.Sender;

/**
 * Sees each link of a client's connection before the broker does.
 *
 * The broker looks for the address of a link first, and a filter's address exists only once somebody
 * has subscribed. So this makes it, or refuses the link with an error that says why.
 */
final class FilterLinks implements EventHandler {

   private final Filters filters;
   private final AMQPConnectionContext connection;

   FilterLinks(Filters filters, AMQPConnectionContext connection) {
      this.filters = filters;
      this.connection = connection;
   }

   /** Runs before the event by which the broker opens the link. */
   @Override
   public void onInit(Link link) throws Exception {
      if (link instanceof Sender) {
         if (link.getRemoteSource() instanceof Source source && !source.getDynamic()) {
            subscribing(link, source.getAddress());
         }
      } else if (link.getRemoteTarget() instanceof Target target && isFilter(target.getAddress())) {
         refuse(link, AmqpError.NOT_FOUND, "A filter takes no messages: send to a topic.");
      }
   }

   private void subscribing(Link link, String address) throws Exception {
      if (!isFilter(address)) {
         return;
      }
      SimpleString filter = filterOf(address);
      if (filters.mayRead(connection.getSecurityAuth(), filter)) {
         filters.prepare(filter);
      } else {
         refuse(link, AmqpError.UNAUTHORIZED_ACCESS, "You may not read every topic that " + filter
            + " matches: one of your own patterns with recv must cover it.");
      }
   }

   private static boolean isFilter(String address) {
      return address != null && Filters.isFilter(filterOf(address));
   }

   private static SimpleString filterOf(String address) {
      return SimpleString.of(
         CompositeAddress.extractAddressName(ParameterisedAddress.extractAddress(address)));
   }

   /** Has the broker run this instead of opening the link. */
   private static void refuse(Link link, Symbol condition, String text) {
      link.attachments().set(AmqpSupport.AMQP_LINK_INITIALIZER_KEY, Runnable.class, () -> {
         link.setSource(null);
         link.setTarget(null);
         link.setCondition(new ErrorCondition(condition, text));
         link.close();
      });
   }
}
