package assay.brokerage.order;

import assay.brokerage.stats.Counters;
import assay.brokerage.stats.Counters.Event;
import jakarta.ejb.ActivationConfigProperty;
import jakarta.ejb.MessageDriven;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;
import jakarta.inject.Inject;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageListener;

/**
 * Completes queued orders. The message is acknowledged after the order's own transaction: a failure
 * in between delivers it again, which does nothing, because completing is idempotent. That spares
 * the two-phase commit that one transaction over queue and database would need.
 */
@MessageDriven(
    activationConfig = {
      @ActivationConfigProperty(
          propertyName = "destinationType",
          propertyValue = "jakarta.jms.Queue"),
      @ActivationConfigProperty(
          propertyName = "destinationLookup",
          propertyValue = "jms/orderQueue")
    })
@TransactionAttribute(TransactionAttributeType.NOT_SUPPORTED)
public class OrderQueueListener implements MessageListener {
  @Inject private OrderCompletion completion;
  @Inject private Counters counters;

  @Override
  public void onMessage(Message message) {
    try {
      completion.now(Long.parseLong(message.getBody(String.class)));
    } catch (JMSException e) {
      throw new IllegalStateException("a message on the order queue cannot be read", e);
    } catch (RuntimeException e) {
      counters.count(Event.COMPLETION_FAILED);
      throw e;
    }
  }
}
