package waypost.broker;

import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.netty.channel.Channel;

/**
 * The connections that have not logged in, oldest first.
 *
 * A new connection is always accepted. If a limit is exceeded, the oldest connection is closed: the
 * oldest from the same source if it is the limit for a source. A client that logs in leaves this
 * list within moments, and a silent one becomes the oldest. So silent connections keep no client
 * out, even from the client's own address.
 */
final class Waiting {

   private final Limits limits;
   private final Map<Channel, Entry> entries = new LinkedHashMap<>();
   private final Map<String, Set<Channel>> bySource = new HashMap<>();

   private record Entry(String source, long since) {
   }

   Waiting(Limits limits) {
      this.limits = limits;
   }

   /** Adds a connection. Forgets and returns the one to close for it if a limit is exceeded. */
   synchronized List<Channel> add(Channel channel) {
      if (entries.containsKey(channel)) {
         return List.of();
      }
      String source = source(channel.remoteAddress());
      entries.put(channel, new Entry(source, System.nanoTime()));
      Set<Channel> peers = bySource.computeIfAbsent(source, key -> new LinkedHashSet<>());
      peers.add(channel);
      List<Channel> over = new ArrayList<>();
      if (peers.size() > limits.waitingPerSource()) {
         over.add(peers.iterator().next());
      } else if (entries.size() > limits.waiting()) {
         over.add(entries.keySet().iterator().next());
      }
      over.forEach(this::remove);
      return over;
   }

   /** Forgets a connection that logged in or ended. Returns whether it was waiting. */
   synchronized boolean remove(Channel channel) {
      Entry entry = entries.remove(channel);
      if (entry == null) {
         return false;
      }
      Set<Channel> peers = bySource.get(entry.source());
      peers.remove(channel);
      if (peers.isEmpty()) {
         bySource.remove(entry.source());
      }
      return true;
   }

   /** Forgets and returns the connections that have waited for {@code secondsToLogIn}. */
   synchronized List<Channel> removeOverdue() {
      long latest = System.nanoTime() - TimeUnit.SECONDS.toNanos(limits.secondsToLogIn());
      List<Channel> overdue = new ArrayList<>();
      for (Map.Entry<Channel, Entry> each : entries.entrySet()) {
         if (each.getValue().since() - latest > 0) {
            break;
         }
         overdue.add(each.getKey());
      }
      overdue.forEach(this::remove);
      return overdue;
   }

   /** Returns the address of an IPv4 client, or the network (/64) of an IPv6 client. */
   private static String source(SocketAddress address) {
      if (!(address instanceof InetSocketAddress inet)) {
         return String.valueOf(address);
      }
      if (inet.getAddress() instanceof Inet6Address six) {
         return Arrays.toString(Arrays.copyOf(six.getAddress(), 8));
      }
      return inet.getAddress().getHostAddress();
   }
}
