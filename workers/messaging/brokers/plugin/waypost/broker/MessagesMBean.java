package waypost.broker;

/** What {@link Messages} offers to management. Java management demands this interface. */
public interface MessagesMBean {

   String operated();

   String list(String queue, long newest, int skip, int count, int bytes) throws Exception;

   String page(String queue, long after, int skip, int count, int bytes, int millis)
      throws Exception;

   void send(String address, String encoded) throws Exception;

   boolean move(String queue, long id, String to) throws Exception;

   boolean resend(String queue, long id) throws Exception;
}
