package assay.brokerage.quote;

import assay.brokerage.stats.Counters;
import assay.brokerage.stats.Counters.Event;
import jakarta.annotation.Resource;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.DeliveryMode;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSRuntimeException;
import jakarta.jms.Topic;

/**
 * Tells whoever listens that a price moved. News, no truth: a change that cannot be published is
 * counted and forgotten, the trade stands.
 */
@Singleton
public class QuoteTopic {
  @Resource(lookup = "jms/connections")
  private ConnectionFactory connections;

  @Resource(lookup = "jms/quoteTopic")
  private Topic topic;

  private final Counters counters;

  @Inject
  public QuoteTopic(Counters counters) {
    this.counters = counters;
  }

  public void publish(QuoteChange change) {
    try (JMSContext context = connections.createContext()) {
      context.createProducer().setDeliveryMode(DeliveryMode.NON_PERSISTENT).send(topic, change);
      counters.count(Event.QUOTE_CHANGE_PUBLISHED);
    } catch (JMSRuntimeException e) {
      counters.count(Event.QUOTE_CHANGE_LOST);
    }
  }
}
