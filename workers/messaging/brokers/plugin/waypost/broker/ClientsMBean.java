package waypost.broker;

/** What {@link Clients} offers to management. Java management demands this interface. */
public interface ClientsMBean {

   String described();
}
