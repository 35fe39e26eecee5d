// Sends one message by JmsTemplate; a @JmsListener receives it.
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.Session;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.qpid.jms.JmsConnectionFactory;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.jms.annotation.EnableJms;
import org.springframework.jms.annotation.JmsListener;
import org.springframework.jms.config.DefaultJmsListenerContainerFactory;
import org.springframework.jms.connection.CachingConnectionFactory;
import org.springframework.jms.core.JmsTemplate;
import org.springframework.jms.listener.DefaultMessageListenerContainer;

@Configuration
@EnableJms
public class Hello {
    private final CountDownLatch received = new CountDownLatch(1);

    public static void main(String[] arguments) throws InterruptedException {
        System.setProperty("orders.address", arguments[0]);
        try (var application = new AnnotationConfigApplicationContext(Hello.class)) {
            application.getBean(JmsTemplate.class).convertAndSend(arguments[0], "hello");
            if (!application.getBean(Hello.class).received.await(30, TimeUnit.SECONDS)) {
                throw new IllegalStateException("no message came");
            }
        }
    }

    @JmsListener(destination = "${orders.address}")
    public void onOrder(String body) {
        if (!body.equals("hello")) {
            System.out.println("failed: " + body);
            // The message comes again; after the last attempt it is a dead letter.
            throw new IllegalArgumentException("cannot process: " + body);
        }
        System.out.println("received: " + body);
        received.countDown();
    }

    @Bean
    public JmsConnectionFactory waypost() {
        String uri = "amqps://" + env("HOST") + ":" + env("PORT")
            + "?transport.trustStoreLocation=" + env("TRUST_STORE")
            + "&transport.trustStoreType=PKCS12&transport.trustStorePassword=changeit";
        return new JmsConnectionFactory(env("USER"), env("PASSWORD"), uri);
    }

    @Bean
    public CachingConnectionFactory cachedConnection(JmsConnectionFactory waypost) {
        // Without a cache JmsTemplate opens a connection for each message. As a bean, the cache is
        // closed with the application; an open connection would keep the program running.
        return new CachingConnectionFactory(waypost);
    }

    @Bean
    public JmsTemplate jmsTemplate(CachingConnectionFactory cachedConnection) {
        return new JmsTemplate(cachedConnection);
    }

    @Bean("jmsListenerContainerFactory")
    @Profile("!standard")
    public DefaultJmsListenerContainerFactory forBrokeredSpaces(JmsConnectionFactory waypost) {
        var factory = new DefaultJmsListenerContainerFactory();
        factory.setConnectionFactory(waypost);
        // If the listener throws, the message is rolled back. Without a transaction it would be
        // acknowledged all the same, and lost.
        factory.setSessionTransacted(true);
        return factory;
    }

    @Bean("jmsListenerContainerFactory")
    @Profile("standard")
    public DefaultJmsListenerContainerFactory forStandardSpaces(JmsConnectionFactory waypost) {
        var factory = new DefaultJmsListenerContainerFactory() {
            @Override
            protected DefaultMessageListenerContainer createContainerInstance() {
                return new AnswersEachMessage();
            }
        };
        factory.setConnectionFactory(waypost);
        factory.setSessionAcknowledgeMode(AnswersEachMessage.MODE);
        return factory;
    }

    /** Accepts the message of a listener that returned; tells the space of one that threw. */
    private static class AnswersEachMessage extends DefaultMessageListenerContainer {
        private static final int MODE = 101;  // individual acknowledgement of Qpid JMS
        private static final int MODIFIED_DELIVERY_FAILED = 4;

        @Override
        protected void invokeListener(Session session, Message message) throws JMSException {
            try {
                super.invokeListener(session, message);
            } catch (JMSException | RuntimeException failure) {
                message.setIntProperty("JMS_AMQP_ACK_TYPE", MODIFIED_DELIVERY_FAILED);
                message.acknowledge();
                throw failure;
            }
            message.acknowledge();
        }
    }

    private static String env(String name) {
        return System.getenv("WAYPOST_MESSAGING_" + name);
    }
}
