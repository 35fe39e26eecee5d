// Processes the messages of a queue and rejects those that it cannot read.
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import org.apache.qpid.jms.JmsConnectionFactory;

public class Worker {
    // How the next acknowledge() answers: 2 rejected, 4 modified with delivery-failed.
    private static final String OUTCOME = "JMS_AMQP_ACK_TYPE";
    private static final int REJECTED = 2;

    public static void main(String[] arguments) throws JMSException {
        String uri = "amqps://" + env("HOST") + ":" + env("PORT")
            + "?transport.trustStoreLocation=" + env("TRUST_STORE")
            + "&transport.trustStoreType=PKCS12&transport.trustStorePassword=changeit";
        var factory = new JmsConnectionFactory(env("USER"), env("PASSWORD"), uri);
        try (JMSContext context = factory.createContext(JMSContext.CLIENT_ACKNOWLEDGE)) {
            JMSConsumer receiver = context.createConsumer(context.createQueue(arguments[0]));
            // Ends when no message came for five seconds.
            for (Message message; (message = receiver.receive(5_000)) != null; ) {
                String body = message.getBody(String.class);
                try {
                    process(body);
                } catch (IllegalArgumentException unreadable) {
                    // Another delivery would not help: it goes to the dead letters at once.
                    message.setIntProperty(OUTCOME, REJECTED);
                    System.out.println("rejected: " + body);
                }
                message.acknowledge();
            }
        }
    }

    private static void process(String body) {
        if (!body.startsWith("{")) {
            throw new IllegalArgumentException("no JSON object: " + body);
        }
        System.out.println("processed: " + body);
    }

    private static String env(String name) {
        return System.getenv("WAYPOST_MESSAGING_" + name);
    }
}
