package waypost.broker;

import java.util.Map;

/**
 * What the space plan allows clients that have logged in; -1 is no limit.
 *
 * {@code messageBytes}: the largest message. {@code userConnections}: connections of one user.
 * {@code sessions}, {@code senders}, {@code receivers}: of one connection. {@code connectionRate},
 * {@code userRate}: messages that one connection, and all connections of one user, may send in a
 * second.
 */
record PlanLimits(long messageBytes, int userConnections, int sessions, int senders, int receivers,
                  int connectionRate, int userRate) {

   /** Reads the properties of broker.xml. It names only those that the plan limits. */
   static PlanLimits of(Map<String, String> properties) {
      return new PlanLimits(number(properties, "message-bytes"),
         (int) number(properties, "user-connections"), (int) number(properties, "sessions"),
         (int) number(properties, "senders"), (int) number(properties, "receivers"),
         (int) number(properties, "connection-rate"), (int) number(properties, "user-rate"));
   }

   private static long number(Map<String, String> properties, String name) {
      return Long.parseLong(properties.getOrDefault(name, "-1"));
   }
}
