package waypost.broker;

import org.apache.activemq.artemis.core.server.ActiveMQServer;

/**
 * The part of the plan's limits that clients have now, in percent.
 *
 * The properties of the plugin never change while the broker runs, but its address settings do: the
 * broker reloads broker.xml. So the percentage is the expiry delay of an address setting that no
 * address uses. Without it, clients have the whole limits.
 */
final class Throttle {

   private static final String MATCH = "$waypost.throttle";
   private static final int ALL = 100;

   private final ActiveMQServer server;
   private volatile int percent = ALL;

   Throttle(ActiveMQServer server) {
      this.server = server;
   }

   /** Reads the setting again; it runs once a second. */
   void sweep() {
      Long found = server.getAddressSettingsRepository().getMatch(MATCH).getExpiryDelay();
      percent = found == null || found < 1 || found >= ALL ? ALL : found.intValue();
   }

   /** Returns the part of a limit that counts now, at least 1; -1 is no limit. */
   int of(int limit) {
      return limit < 0 ? limit : (int) Math.max(1, (long) limit * percent / ALL);
   }
}
