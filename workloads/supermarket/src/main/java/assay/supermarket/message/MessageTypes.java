package assay.supermarket.message;

import java.util.List;

/**
 * All types of messages of the company. What is not here is not sent, and refused when it comes.
 */
public final class MessageTypes {
  public static final List<Class<? extends Message>> ALL =
      List.of(
          Acknowledgement.class,
          AssociationReport.class,
          AuditAnswer.class,
          AuditQuery.class,
          BusinessQuery.class,
          BusinessReport.class,
          BusinessReportQuery.class,
          BusinessState.class,
          BuyingBehaviourQuery.class,
          BuyingBehaviourReport.class,
          CategoryAssociationQuery.class,
          Delivery.class,
          HoldBusiness.class,
          InventoryQuery.class,
          InventoryReport.class,
          PlaceOrder.class,
          PriceUpdate.class,
          ProductAssociationQuery.class,
          ReceiptReport.class,
          ResetGroup.class,
          ResumeBusiness.class,
          TransferReply.class,
          TransferRequest.class);

  private MessageTypes() {}
}
