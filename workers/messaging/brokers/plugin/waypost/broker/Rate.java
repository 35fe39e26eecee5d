package waypost.broker;

/**
 * Counts messages against a number of them per second.
 *
 * What nobody sent in the last second may be sent at once. A message beyond the rate is counted too:
 * the rate is then in debt until enough time has passed.
 */
final class Rate {

   private final int sold;
   private final Throttle throttle;
   private double perNano;
   private double most;
   private double free;
   private long last = System.nanoTime();

   /** {@code perSecond}: messages; -1 is no limit. {@code throttle} says which part counts now. */
   Rate(int perSecond, Throttle throttle) {
      sold = perSecond;
      this.throttle = throttle;
      limit();
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

   private void limit() {
      int perSecond = throttle.of(sold);
      perNano = perSecond < 0 ? Double.POSITIVE_INFINITY : perSecond / 1e9;
      most = perSecond < 0 ? Double.POSITIVE_INFINITY : perSecond;
   }

   private void refill() {
      limit();
      long now = System.nanoTime();
      if (most < Double.POSITIVE_INFINITY) {
         free = Math.min(most, free + (now - last) * perNano);
      }
      last = now;
   }
}
