package assay.brokerage.market;

import assay.brokerage.quote.QuoteChange;
import jakarta.ejb.ActivationConfigProperty;
import jakarta.ejb.MessageDriven;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;
import jakarta.enterprise.event.Event;
import jakarta.inject.Inject;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageListener;

/** Brings quote changes from the topic to the ticker and, as an event, to the WebSocket feed. */
@MessageDriven(
    activationConfig = {
      @ActivationConfigProperty(
          propertyName = "destinationType",
          propertyValue = "jakarta.jms.Topic"),
      @ActivationConfigProperty(
          propertyName = "destinationLookup",
          propertyValue = "jms/quoteTopic")
    })
@TransactionAttribute(TransactionAttributeType.NOT_SUPPORTED)
public class QuoteTopicListener implements MessageListener {
  @Inject private Ticker ticker;
  @Inject private Event<QuoteChange> changes;

  @Override
  public void onMessage(Message message) {
    try {
      QuoteChange change = message.getBody(QuoteChange.class);
      ticker.add(change);
      changes.fire(change);
    } catch (JMSException e) {
      throw new IllegalStateException("a message on the quote topic cannot be read", e);
    }
  }
}
