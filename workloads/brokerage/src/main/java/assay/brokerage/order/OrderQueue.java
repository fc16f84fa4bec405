package assay.brokerage.order;

import jakarta.annotation.Resource;
import jakarta.inject.Singleton;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.DeliveryMode;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSRuntimeException;
import jakarta.jms.Queue;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/** The queue of opened orders in the embedded messaging engine. */
@Singleton
public class OrderQueue {
  private static final Logger LOG = System.getLogger(OrderQueue.class.getName());

  @Resource(lookup = "jms/connections")
  private ConnectionFactory connections;

  @Resource(lookup = "jms/orderQueue")
  private Queue queue;

  /** False when the message was not taken, for example because the queue is full. */
  boolean send(long orderId) {
    try (JMSContext context = connections.createContext()) {
      context
          .createProducer()
          .setDeliveryMode(DeliveryMode.NON_PERSISTENT)
          .send(queue, String.valueOf(orderId));
      return true;
    } catch (JMSRuntimeException e) {
      LOG.log(Level.WARNING, "order " + orderId + " not queued", e);
      return false;
    }
  }
}
