// Sends one message by JmsTemplate; a @JmsListener receives it.
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.qpid.jms.JmsConnectionFactory;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jms.annotation.EnableJms;
import org.springframework.jms.annotation.JmsListener;
import org.springframework.jms.config.DefaultJmsListenerContainerFactory;
import org.springframework.jms.connection.CachingConnectionFactory;
import org.springframework.jms.core.JmsTemplate;

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
        // An exception here requests another delivery; after the last attempt the message is a dead
        // letter.
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

    @Bean
    public DefaultJmsListenerContainerFactory jmsListenerContainerFactory(
            JmsConnectionFactory waypost) {
        var factory = new DefaultJmsListenerContainerFactory();
        factory.setConnectionFactory(waypost);
        // Acknowledge after the listener has returned, without a transaction, which a standard
        // space refuses.
        factory.setSessionTransacted(false);
        factory.setSessionAcknowledgeMode(jakarta.jms.Session.AUTO_ACKNOWLEDGE);
        return factory;
    }

    private static String env(String name) {
        return System.getenv("WAYPOST_MESSAGING_" + name);
    }
}
