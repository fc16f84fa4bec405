package assay.supermarket.message;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.cbor.databind.CBORMapper;
import com.fasterxml.jackson.dataformat.xml.XmlMapper;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.transform.Transformer;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMSource;
import javax.xml.transform.stream.StreamResult;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** Other ways from a report of receipts to bytes and back, none of them checked or sealed. */
public enum Peer {
  /** Jackson's mapping to XML, with the parser and writer that it brings (Woodstox). */
  JACKSON_XML {
    @Override
    byte[] write(ReceiptReport report) throws Exception {
      return XML.writeValueAsBytes(report);
    }

    @Override
    ReceiptReport read(byte[] bytes) throws Exception {
      return XML.readValue(bytes, ReceiptReport.class);
    }
  },

  /** The JDK's document tree, by hand. */
  DOM {
    @Override
    byte[] write(ReceiptReport report) throws Exception {
      return DomReport.write(report);
    }

    @Override
    ReceiptReport read(byte[] bytes) throws Exception {
      return DomReport.read(bytes);
    }
  },

  /** Jackson's mapping to CBOR, with the names of components. */
  JACKSON_CBOR {
    @Override
    byte[] write(ReceiptReport report) throws Exception {
      return CBOR.writeValueAsBytes(report);
    }

    @Override
    ReceiptReport read(byte[] bytes) throws Exception {
      return CBOR.readValue(bytes, ReceiptReport.class);
    }
  },

  /** The JDK's serialisation, which is never used between agents. */
  JAVA_OBJECTS {
    @Override
    byte[] write(ReceiptReport report) throws Exception {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
        out.writeObject(SerialReport.of(report));
      }
      return bytes.toByteArray();
    }

    @Override
    ReceiptReport read(byte[] bytes) throws Exception {
      try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
        return ((SerialReport) in.readObject()).report();
      }
    }
  };

  private static final ObjectMapper XML = new XmlMapper();
  private static final ObjectMapper CBOR = new CBORMapper();

  abstract byte[] write(ReceiptReport report) throws Exception;

  abstract ReceiptReport read(byte[] bytes) throws Exception;

  private record SerialLine(int product, int category, int quantity, long unitCents)
      implements Serializable {}

  private record SerialReport(
      String sender,
      long sequence,
      long number,
      String kind,
      int customer,
      long totalCents,
      ArrayList<SerialLine> lines)
      implements Serializable {

    static SerialReport of(ReceiptReport report) {
      Receipt receipt = report.receipts().get(0);
      ArrayList<SerialLine> lines = new ArrayList<>();
      for (ReceiptLine line : receipt.lines()) {
        lines.add(
            new SerialLine(line.product(), line.category(), line.quantity(), line.unitCents()));
      }
      return new SerialReport(
          report.sender(),
          report.sequence(),
          receipt.number(),
          receipt.kind(),
          receipt.customer(),
          receipt.totalCents(),
          lines);
    }

    ReceiptReport report() {
      List<ReceiptLine> whole = new ArrayList<>();
      for (SerialLine line : lines) {
        whole.add(
            new ReceiptLine(line.product(), line.category(), line.quantity(), line.unitCents()));
      }
      Receipt receipt = new Receipt(number, kind, customer, totalCents, whole);
      return new ReceiptReport(sender, sequence, List.of(receipt));
    }
  }

  /** As one would write it with the document tree. */
  private static final class DomReport {
    private static final DocumentBuilderFactory BUILDERS =
        DocumentBuilderFactory.newDefaultInstance();
    private static final TransformerFactory TRANSFORMERS = TransformerFactory.newDefaultInstance();

    private DomReport() {}

    static byte[] write(ReceiptReport report) throws Exception {
      Document document = BUILDERS.newDocumentBuilder().newDocument();
      Element root = document.createElement("ReceiptReport");
      document.appendChild(root);
      add(root, "sender", report.sender());
      add(root, "sequence", report.sequence());
      Element receipts = add(root, "receipts", "");
      for (Receipt receipt : report.receipts()) {
        Element each = add(receipts, "Receipt", "");
        add(each, "number", receipt.number());
        add(each, "kind", receipt.kind());
        add(each, "customer", receipt.customer());
        add(each, "totalCents", receipt.totalCents());
        Element lines = add(each, "lines", "");
        for (ReceiptLine line : receipt.lines()) {
          Element one = add(lines, "ReceiptLine", "");
          add(one, "product", line.product());
          add(one, "category", line.category());
          add(one, "quantity", line.quantity());
          add(one, "unitCents", line.unitCents());
        }
      }
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      Transformer transformer = TRANSFORMERS.newTransformer();
      transformer.transform(new DOMSource(document), new StreamResult(bytes));
      return bytes.toByteArray();
    }

    private static Element add(Element to, String name, Object content) {
      Element element = to.getOwnerDocument().createElement(name);
      if (!content.equals("")) {
        element.setTextContent(content.toString());
      }
      to.appendChild(element);
      return element;
    }

    static ReceiptReport read(byte[] bytes) throws Exception {
      DocumentBuilder builder = BUILDERS.newDocumentBuilder();
      Element root = builder.parse(new ByteArrayInputStream(bytes)).getDocumentElement();
      List<Receipt> receipts = new ArrayList<>();
      for (Element each : children(child(root, 2))) {
        List<ReceiptLine> lines = new ArrayList<>();
        for (Element line : children(child(each, 4))) {
          lines.add(
              new ReceiptLine(
                  (int) number(line, 0),
                  (int) number(line, 1),
                  (int) number(line, 2),
                  number(line, 3)));
        }
        String kind = child(each, 1).getTextContent();
        int customer = (int) number(each, 2);
        receipts.add(new Receipt(number(each, 0), kind, customer, number(each, 3), lines));
      }
      return new ReceiptReport(child(root, 0).getTextContent(), number(root, 1), receipts);
    }

    private static List<Element> children(Element of) {
      List<Element> children = new ArrayList<>();
      NodeList nodes = of.getChildNodes();
      for (int i = 0; i < nodes.getLength(); i++) {
        children.add((Element) nodes.item(i));
      }
      return children;
    }

    private static Element child(Element of, int index) {
      return (Element) of.getChildNodes().item(index);
    }

    private static long number(Element of, int index) {
      return Long.parseLong(child(of, index).getTextContent());
    }
  }
}
