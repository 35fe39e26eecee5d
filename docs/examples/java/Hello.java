// Sends one message to a queue and receives it.
import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import jakarta.jms.Queue;
import org.apache.qpid.jms.JmsConnectionFactory;

public class Hello {
    public static void main(String[] arguments) {
        String uri = "amqps://" + env("HOST") + ":" + env("PORT")
            + "?transport.trustStoreLocation=" + env("TRUST_STORE")
            + "&transport.trustStoreType=PKCS12&transport.trustStorePassword=changeit";
        ConnectionFactory factory = new JmsConnectionFactory(env("USER"), env("PASSWORD"), uri);
        try (JMSContext context = factory.createContext()) {
            // createTopic for an address of type topic or multicast
            Queue address = context.createQueue(arguments[0]);
            JMSConsumer receiver = context.createConsumer(address);
            // Durable by default. Throws JMSRuntimeException if the message is refused.
            context.createProducer().send(address, "hello");
            System.out.println("received: " + receiver.receiveBody(String.class, 30_000));
        }
    }

    private static String env(String name) {
        return System.getenv("WAYPOST_MESSAGING_" + name);
    }
}
