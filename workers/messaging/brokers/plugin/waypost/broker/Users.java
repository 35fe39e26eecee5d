package waypost.broker;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What the connections of one messaging user share: their number, and the rate of their messages.
 *
 * A user is kept after its last connection has ended, so that connecting again pays no debt. Only
 * names that have logged in are kept, so there are not more than the space has had.
 */
final class Users {

   private final PlanLimits limits;
   private final Throttle throttle;
   private final Map<String, Shared> byName = new ConcurrentHashMap<>();

   private record Shared(AtomicInteger connections, Rate rate) {
   }

   Users(PlanLimits limits, Throttle throttle) {
      this.limits = limits;
      this.throttle = throttle;
   }

   /** Counts a connection of the user, or returns false because it would be one too many. */
   boolean enter(String user) {
      AtomicInteger connections = of(user).connections();
      int count = connections.incrementAndGet();
      int most = throttle.of(limits.userConnections());
      if (most >= 0 && count > most) {
         connections.decrementAndGet();
         return false;
      }
      return true;
   }

   void leave(String user) {
      of(user).connections().decrementAndGet();
   }

   Rate rate(String user) {
      return of(user).rate();
   }

   private Shared of(String user) {
      return byName.computeIfAbsent(user,
         name -> new Shared(new AtomicInteger(), new Rate(limits.userRate(), throttle)));
   }
}
