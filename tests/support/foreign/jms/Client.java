// A client of Qpid JMS as its users write one: default settings, TLS, one action.
//
// Run by tests/support/foreign/jms/program.py:
//   Client <action> <URI> <destination to send to> <destination to read> <option=value>...
// A destination is queue:<name> or topic:<name>; the user and the password are in the environment.
// Prints one line of JSON: {accepted, received: [texts, or SHA-256 of bytes], browsed: [texts],
// refused: the exception's class or "", reason: the text of its cause}.

import jakarta.jms.BytesMessage;
import jakarta.jms.Connection;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.QueueBrowser;
import jakarta.jms.Session;
import jakarta.jms.TemporaryQueue;
import jakarta.jms.TextMessage;
import jakarta.jms.Topic;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.qpid.jms.JmsConnectionFactory;

public final class Client {
    private static final long PATIENCE_MS = 30_000;
    private static final long TURN_MS = 20;

    private final String uri;
    private final String to;
    private final String from;
    private final Map<String, String> options = new TreeMap<>();
    private final List<String> received = Collections.synchronizedList(new ArrayList<>());
    private final List<String> browsed = new ArrayList<>();
    private final List<Connection> connections = new ArrayList<>();
    private int accepted = 0;

    private Client(String[] arguments) {
        uri = arguments[1];
        to = arguments[2];
        from = arguments[3];
        for (int each = 4; each < arguments.length; each += 1) {
            String[] option = arguments[each].split("=", 2);
            options.put(option[0], option[1]);
        }
    }

    public static void main(String[] arguments) {
        Client client = new Client(arguments);
        String refused = "";
        String reason = "";
        try {
            client.act(arguments[0]);
        } catch (Exception error) {
            refused = error.getClass().getSimpleName();
            Throwable cause = error.getCause() == null ? error : error.getCause();
            reason = String.valueOf(cause.getMessage());
        }
        client.close();
        System.out.println(client.line(refused, reason));
        System.exit(0); // no thread of a client that was refused keeps the process
    }

    /** What was received is acknowledged, and no link is left that takes messages of the next. */
    private void close() {
        for (Connection connection : connections) {
            try {
                connection.close();
            } catch (JMSException error) {
                // the peer closed it before
            }
        }
    }

    private void act(String action) throws Exception {
        switch (action) {
            case "exchange" -> exchange();
            case "open" -> open(options.get("what"));
            case "ask" -> ask();
            case "subscribe" -> subscribe();
            case "unsubscribe" -> unsubscribe();
            case "namesakes" -> namesakes();
            case "try" -> tryAndGoOn(options.get("what"));
            default -> throw new IllegalArgumentException(action);
        }
    }

    /** Receivers first, then the messages; each participant has a connection of its own. */
    private void exchange() throws Exception {
        for (int each = 0; each < number("receivers"); each += 1) {
            Session session = connect(null).createSession();
            listen(session.createConsumer(destination(session, from)));
        }
        send(connect(null).createSession(), to, number("messages"));
        awaitReceived(number("expected"));
    }

    /** A sender or receiver that may not be: some peers say so a little after it was made. */
    private void open(String what) throws Exception {
        Session session = connect(null).createSession();
        long deadline = System.currentTimeMillis() + PATIENCE_MS;
        if (what.equals("producer")) {
            MessageProducer producer = session.createProducer(destination(session, to));
            while (System.currentTimeMillis() < deadline) {
                producer.getDestination(); // throws once it is closed
                Thread.sleep(TURN_MS);
            }
        } else {
            MessageConsumer consumer = session.createConsumer(destination(session, from));
            while (System.currentTimeMillis() < deadline) {
                consumer.getMessageListener();
                Thread.sleep(TURN_MS);
            }
        }
    }

    /** Questions with a temporary queue to answer to; a service answers to where they say. */
    private void ask() throws Exception {
        Session asking = connect(null).createSession();
        Session serving = connect(null).createSession();
        MessageProducer answers = serving.createProducer(null);
        serving.createConsumer(destination(serving, from))
                .setMessageListener(question -> answer(serving, answers, question));
        TemporaryQueue temporary = asking.createTemporaryQueue();
        listen(asking.createConsumer(temporary));
        Session sending = connect(null).createSession();
        MessageProducer producer = sending.createProducer(destination(sending, to));
        for (int each = 0; each < number("messages"); each += 1) {
            Message question = sending.createTextMessage("message " + each);
            question.setJMSReplyTo(temporary);
            producer.send(question);
            accepted += 1;
        }
        awaitReceived(number("messages"));
    }

    private static void answer(Session session, MessageProducer answers, Message question) {
        try {
            Message answer = session.createTextMessage("answer to " + text(question));
            answers.send(question.getJMSReplyTo(), answer);
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    /** A durable subscription keeps what comes while its owner is away. */
    private void subscribe() throws Exception {
        Subscriber away = subscriber(options.get("id"), options.get("name"));
        away.connection().close();
        send(connect(null).createSession(), to, number("messages"));
        listen(subscriber(options.get("id"), options.get("name")).consumer());
        awaitReceived(number("messages"));
    }

    /** A durable subscription that was ended keeps nothing: a later one of its name is empty. */
    private void unsubscribe() throws Exception {
        Subscriber first = subscriber(options.get("id"), options.get("name"));
        first.consumer().close();
        first.session().unsubscribe(options.get("name"));
        first.connection().close();
        Session sending = connect(null).createSession();
        send(sending, to, number("messages"));
        listen(subscriber(options.get("id"), options.get("name")).consumer());
        sending.createProducer(destination(sending, to)).send(sending.createTextMessage("last"));
        while (!received.contains("last")) {
            awaitReceived(received.size() + 1);
        }
    }

    /** Two clients give their subscriptions one name: each gets every message. */
    private void namesakes() throws Exception {
        String name = options.get("name");
        Subscriber one = subscriber(options.get("id") + "-1", name);
        Subscriber other = subscriber(options.get("id") + "-2", name);
        listen(one.consumer());
        listen(other.consumer());
        send(connect(null).createSession(), to, number("messages"));
        awaitReceived(2 * number("messages"));
    }

    /** Messages first, then what may be refused, then the messages over the same connection. */
    private void tryAndGoOn(String what) throws Exception {
        Connection connection = connect(null);
        Session session = connection.createSession();
        send(session, from, number("messages"));
        JMSException refusal = null;
        try {
            attempt(connection, what);
        } catch (JMSException error) {
            refusal = error;
        }
        Session after = connection.createSession();
        listen(after.createConsumer(destination(after, from)));
        awaitReceived(number("messages"));
        if (refusal != null) {
            throw refusal;
        }
    }

    private void attempt(Connection connection, String what) throws JMSException {
        boolean isTransacted = what.equals("transaction");
        Session session =
                connection.createSession(
                        isTransacted ? Session.SESSION_TRANSACTED : Session.AUTO_ACKNOWLEDGE);
        String name = options.get("name");
        switch (what) {
            case "transaction" -> session.commit();
            case "shared" -> session.createSharedConsumer(topic(session), name).close();
            case "shared durable" -> {
                session.createSharedDurableConsumer(topic(session), name).close();
                session.unsubscribe(name);
            }
            case "browser" -> browse(session.createBrowser(queue(session)));
            case "selector" -> session.createConsumer(queue(session), "n = 1").close();
            default -> throw new IllegalArgumentException(what);
        }
        session.close();
    }

    private void browse(QueueBrowser browser) throws JMSException {
        Enumeration<?> waiting = browser.getEnumeration();
        while (waiting.hasMoreElements()) {
            browsed.add(text((Message) waiting.nextElement()));
        }
        browser.close();
    }

    private record Subscriber(Connection connection, Session session, MessageConsumer consumer) {}

    private Subscriber subscriber(String id, String name) throws JMSException {
        Connection connection = connect(id);
        Session session = connection.createSession();
        MessageConsumer consumer = session.createDurableSubscriber((Topic) destination(session, from), name);
        return new Subscriber(connection, session, consumer);
    }

    private Connection connect(String id) throws JMSException {
        String user = System.getenv("MESSAGING_USER");
        String password = System.getenv("MESSAGING_PASSWORD");
        Connection connection = new JmsConnectionFactory(uri).createConnection(user, password);
        connections.add(connection);
        if (id != null) {
            connection.setClientID(id);
        }
        connection.start();
        return connection;
    }

    private void send(Session session, String destination, int messages) throws JMSException {
        MessageProducer producer = session.createProducer(destination(session, destination));
        for (int each = 0; each < messages; each += 1) {
            producer.send(message(session, each)); // returns once it is accepted
            accepted += 1;
        }
    }

    private Message message(Session session, int each) throws JMSException {
        int size = number("size");
        if (size == 0) {
            return session.createTextMessage("message " + each);
        }
        byte[] bytes = new byte[size];
        for (int place = 0; place < size; place += 1) {
            bytes[place] = (byte) (place + each);
        }
        BytesMessage message = session.createBytesMessage();
        message.writeBytes(bytes);
        return message;
    }

    private void listen(MessageConsumer consumer) throws JMSException {
        consumer.setMessageListener(message -> received.add(text(message)));
    }

    private void awaitReceived(int enough) throws Exception {
        long deadline = System.currentTimeMillis() + PATIENCE_MS;
        while (received.size() < enough) {
            if (System.currentTimeMillis() > deadline) {
                throw new TimeoutException("no answer");
            }
            Thread.sleep(TURN_MS);
        }
    }

    private static String text(Message message) {
        try {
            if (message instanceof TextMessage) {
                return ((TextMessage) message).getText();
            }
            byte[] bytes = message.getBody(byte[].class);
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (JMSException | NoSuchAlgorithmException error) {
            throw new IllegalStateException(error);
        }
    }

    private Queue queue(Session session) throws JMSException {
        return (Queue) destination(session, from);
    }

    private Topic topic(Session session) throws JMSException {
        return (Topic) destination(session, to);
    }

    private static Destination destination(Session session, String named) throws JMSException {
        String name = named.substring("queue:".length());
        return named.startsWith("queue:") ? session.createQueue(name) : session.createTopic(name);
    }

    private int number(String option) {
        return Integer.parseInt(options.getOrDefault(option, "0"));
    }

    private String line(String refused, String reason) {
        return "{\"accepted\": " + accepted + ", \"received\": " + quoted(List.copyOf(received))
                + ", \"browsed\": " + quoted(browsed) + ", \"refused\": " + quoted(refused)
                + ", \"reason\": " + quoted(reason) + "}";
    }

    private static String quoted(List<String> texts) {
        return texts.stream().map(Client::quoted).collect(Collectors.joining(", ", "[", "]"));
    }

    private static String quoted(String text) {
        String plain = text.replace("\\", "\\\\").replace("\"", "\\\"").replaceAll("\\s+", " ");
        return "\"" + plain + "\"";
    }
}
