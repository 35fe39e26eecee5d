package waypost.broker;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.netty.channel.Channel;

import org.apache.activemq.artemis.core.server.ServerConsumer;
import org.apache.activemq.artemis.json.JsonObjectBuilder;
import org.apache.activemq.artemis.utils.JsonLoader;

/**
 * Describes the open AMQP connections of clients: what the broker's own lists of connections lack.
 */
public final class Clients implements ClientsMBean {

   private final Map<Object, Client> byId = new ConcurrentHashMap<>();  // the broker's ids

   /** Takes in a connection until its channel closes. */
   void add(Object id, Client client, Channel channel) {
      byId.put(id, client);
      channel.closeFuture().addListener(closed -> byId.remove(id)); // at once if it is closed
   }

   /** Counts a message that was acknowledged through {@code consumer}, if a client has that. */
   void acknowledged(ServerConsumer consumer) {
      Client client = byId.get(consumer.getConnectionID());
      if (client != null) {
         client.received();
      }
   }

   /**
    * Returns {id of a connection: {product, version, tlsProtocol, tlsCipher, sent, received}} as
    * JSON. A text is empty if it is not known. {@code sent} and {@code received} are what the
    * client has sent, and has acknowledged, since it connected.
    */
   @Override
   public String described() {
      JsonObjectBuilder found = JsonLoader.createObjectBuilder();
      byId.forEach((id, client) -> found.add(id.toString(), client.described()));
      return found.build().toString();
   }
}
