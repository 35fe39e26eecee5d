package waypost.broker;

/**
 * Counts messages against a number of them per second.
 *
 * What nobody sent in the last second may be sent at once. A message beyond the rate is counted too:
 * the rate is then in debt until enough time has passed.
 */
final class Rate {

   private final double perNano;
   private final double most;
   private double free;
   private long last = System.nanoTime();

   /** {@code perSecond}: messages; -1 is no limit. */
   Rate(int perSecond) {
      perNano = perSecond < 0 ? Double.POSITIVE_INFINITY : perSecond / 1e9;
      most = perSecond < 0 ? Double.POSITIVE_INFINITY : perSecond;
      free = most;
   }

   synchronized void count() {
      refill();
      free--;
   }

   /** Returns the nanoseconds until the debt is paid; 0 if there is none. */
   synchronized long debt() {
      refill();
      return free >= 0 ? 0 : (long) Math.ceil(-free / perNano);
   }

   private void refill() {
      long now = System.nanoTime();
      if (most < Double.POSITIVE_INFINITY) {
         free = Math.min(most, free + (now - last) * perNano);
      }
      last = now;
   }
}
