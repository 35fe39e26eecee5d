package waypost.broker;

/** What {@link Transit} offers to management. Java management demands this interface. */
public interface TransitMBean {

   String described();
}
