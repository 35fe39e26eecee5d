package waypost.broker;

import java.util.Map;

/**
 * The limits that broker.xml sets for the acceptor of this name. {@code waiting} and
 * {@code waitingPerSource} limit the connections that have not logged in. {@code connections}
 * limits those that have; -1 is no limit there.
 */
record Limits(String acceptor, int connections, int waiting, int waitingPerSource,
              int secondsToLogIn) {

   static Limits of(Map<String, String> properties) {
      return new Limits(required(properties, "acceptor"), number(properties, "connections"),
         number(properties, "waiting"), number(properties, "waiting-per-source"),
         number(properties, "seconds-to-log-in"));
   }

   private static int number(Map<String, String> properties, String name) {
      return Integer.parseInt(required(properties, name));
   }

   private static String required(Map<String, String> properties, String name) {
      String value = properties.get(name);
      if (value == null) {
         throw new IllegalArgumentException("broker.xml lacks the property " + name + " of Guard");
      }
      return value;
   }
}
