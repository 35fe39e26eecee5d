package waypost.broker;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;

import org.apache.activemq.artemis.protocol.amqp.proton.AMQPConnectionContext;
import org.apache.activemq.artemis.protocol.amqp.proton.AmqpSupport;
import org.apache.activemq.artemis.protocol.amqp.proton.ProtonServerReceiverContext;
import org.apache.activemq.artemis.protocol.amqp.proton.handler.EventHandler;
import org.apache.qpid.proton.amqp.UnsignedLong;
import org.apache.qpid.proton.amqp.transport.AmqpError;
import org.apache.qpid.proton.amqp.transport.ErrorCondition;
import org.apache.qpid.proton.engine.Endpoint;
import org.apache.qpid.proton.engine.Link;
import org.apache.qpid.proton.engine.Receiver;
import org.apache.qpid.proton.engine.Session;

/**
 * Applies the plan's limits to the sessions, links and messages of one client's connection.
 *
 * The broker calls it on the connection's own thread, after it has handled the same event itself.
 */
final class Client implements EventHandler {

   private final AMQPConnectionContext amqp;
   private final PlanLimits limits;
   private final Users users;
   private final ScheduledExecutorService timer;
   private final Rate own;
   private final Set<Session> sessions = new HashSet<>();
   private final Set<Session> refused = new HashSet<>();
   private final Set<Link> senders = new HashSet<>();
   private final Set<Link> receivers = new HashSet<>();

   Client(AMQPConnectionContext amqp, PlanLimits limits, Users users,
          ScheduledExecutorService timer) {
      this.amqp = amqp;
      this.limits = limits;
      this.users = users;
      this.timer = timer;
      own = new Rate(limits.connectionRate());
   }

   @Override
   public void onRemoteOpen(Session session) {
      sessions.add(session);
      if (isOver(sessions, limits.sessions())) {
         refused.add(session);
         refuse(session, "The plan allows " + limits.sessions() + " sessions of a connection.");
      }
   }

   @Override
   public void onRemoteClose(Session session) {
      sessions.remove(session);
      refused.remove(session);
      senders.removeIf(link -> link.getSession() == session);
      receivers.removeIf(link -> link.getSession() == session);
   }

   /** Runs before the broker answers the link, so that a link too many creates nothing. */
   @Override
   public void onInit(Link link) {
      if (refused.contains(link.getSession())) {
         answer(link, () -> { }); // the client learns it from the end of the session
      } else if (link instanceof Receiver) {
         // What the client sends is received here.
         if (limits.messageBytes() >= 0) {
            link.setMaxMessageSize(UnsignedLong.valueOf(limits.messageBytes()));
         }
         admit(link, senders, limits.senders(), "senders");
      } else {
         admit(link, receivers, limits.receivers(), "receivers");
      }
   }

   private void admit(Link link, Set<Link> links, int limit, String what) {
      links.add(link);
      if (isOver(links, limit)) {
         links.remove(link);
         answer(link, () -> {
            link.open();
            refuse(link, "The plan allows " + limit + " " + what + " of a connection.");
         });
      }
   }

   private static boolean isOver(Set<?> present, int limit) {
      return limit >= 0 && present.size() > limit;
   }

   /** Makes the broker run {@code answer} instead of its own handling of a new link. */
   private static void answer(Link link, Runnable answer) {
      link.attachments().set(AmqpSupport.AMQP_LINK_INITIALIZER_KEY, Runnable.class, answer);
   }

   private void refuse(Endpoint endpoint, String text) {
      endpoint.setCondition(new ErrorCondition(AmqpError.RESOURCE_LIMIT_EXCEEDED, text));
      endpoint.close();
      amqp.flush();
   }

   @Override
   public void onRemoteOpen(Link link) {
      if (link.getContext() instanceof ProtonServerReceiverContext context) {
         link.setContext(new Incoming((Receiver) link, context, limits.messageBytes(),
            new Pace(context, own, users.rate(amqp.getSASLResult().getUser()), timer)));
      }
   }

   @Override
   public void onRemoteClose(Link link) {
      forget(link);
   }

   @Override
   public void onRemoteDetach(Link link) {
      forget(link);
   }

   @Override
   public void onLocalClose(Link link) {
      forget(link);
   }

   private void forget(Link link) {
      senders.remove(link);
      receivers.remove(link);
   }
}
