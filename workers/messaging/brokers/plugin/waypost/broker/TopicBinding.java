package waypost.broker;

import org.apache.activemq.artemis.api.core.Message;
import org.apache.activemq.artemis.api.core.RoutingType;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.core.filter.Filter;
import org.apache.activemq.artemis.core.postoffice.Binding;
import org.apache.activemq.artemis.core.postoffice.BindingType;
import org.apache.activemq.artemis.core.server.Bindable;
import org.apache.activemq.artemis.core.server.Queue;
import org.apache.activemq.artemis.core.server.RoutingContext;
import org.apache.activemq.artemis.utils.CompositeAddress;

/**
 * Brings the messages of one topic to the queue of a filter's subscription.
 *
 * It is of the type of a divert, which the broker neither stores nor manages as a queue.
 */
final class TopicBinding implements Binding {

   private final long id;
   private final SimpleString topic;
   private final Queue queue;
   private final SimpleString name;

   TopicBinding(long id, SimpleString topic, Queue queue) {
      this.id = id;
      this.topic = topic;
      this.queue = queue;
      this.name = nameOf(queue, topic);
   }

   /** No tenant's queue or address has a name that begins so. */
   static SimpleString nameOf(Queue queue, SimpleString topic) {
      return SimpleString.of("$waypost.filter." + queue.getID() + "." + topic);
   }

   /** Leaves out what is meant for one queue of the topic, or for no topic. */
   @Override
   public void route(Message message, RoutingContext context) throws Exception {
      boolean isForTopics = context.getRoutingType() == null
         || context.getRoutingType() == RoutingType.MULTICAST;
      if (isForTopics && !CompositeAddress.isFullyQualified(message.getAddressSimpleString())) {
         queue.route(message, context);
      }
   }

   @Override
   public void routeWithAck(Message message, RoutingContext context) {
      // Only mirrored brokers call it.
   }

   @Override
   public boolean isLocal() {
      return true;
   }

   @Override
   public SimpleString getAddress() {
      return topic;
   }

   @Override
   public Bindable getBindable() {
      return queue;
   }

   @Override
   public BindingType getType() {
      return BindingType.DIVERT;
   }

   @Override
   public SimpleString getUniqueName() {
      return name;
   }

   @Override
   public SimpleString getRoutingName() {
      return name;
   }

   @Override
   public SimpleString getClusterName() {
      return name;
   }

   /** The subscriber's selector. */
   @Override
   public Filter getFilter() {
      return queue.getFilter();
   }

   @Override
   public boolean isHighAcceptPriority(Message message) {
      return true;
   }

   @Override
   public boolean isExclusive() {
      return false;
   }

   @Override
   public Long getID() {
      return id;
   }

   @Override
   public int getDistance() {
      return 0;
   }

   @Override
   public void close() {
      // The queue has another binding, which ends it.
   }

   @Override
   public String toManagementString() {
      return "TopicBinding [topic=" + topic + ", queue=" + queue.getName() + "]";
   }

   @Override
   public boolean isConnected() {
      return true;
   }

   @Override
   public void unproposed(SimpleString groupID) {
      // Only clustered brokers propose groups.
   }
}
