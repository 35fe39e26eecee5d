package waypost.broker;

/** What {@link Traffic} offers to management. Java management demands this interface. */
public interface TrafficMBean {

   String counted(long after, int most);
}
