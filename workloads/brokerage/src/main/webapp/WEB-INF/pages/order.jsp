<%@ include file="/WEB-INF/parts/top.jspf" %>
<p role="status">Order <span data-order="${order.id}">${order.id}</span> to ${order.type} ${order.quantity} shares of ${order.symbol} is ${order.state}.</p>
<dl>
<dt>Price</dt><dd>${order.price}</dd>
<dt>Value</dt><dd>${order.value}</dd>
<dt>Fee</dt><dd>${order.fee}</dd>
<dt>Opened</dt><dd>${order.openedAt}</dd>
<dt>Completed</dt><dd>${order.completedAt}</dd>
</dl>
<table>
<caption>Quote</caption>
<thead><tr><th scope="col">Symbol</th><th scope="col">Company</th><th scope="col">Volume</th><th scope="col">Price</th><th scope="col">Open</th><th scope="col">Low</th><th scope="col">High</th><th scope="col">Change</th></tr></thead>
<tbody><tr><td>${quote.symbol}</td><td>${fn:escapeXml(quote.company)}</td><td>${quote.volume}</td><td>${quote.price}</td><td>${quote.openPrice}</td><td>${quote.lowPrice}</td><td>${quote.highPrice}</td><td>${quote.priceChange}</td></tr></tbody>
</table>
<%@ include file="/WEB-INF/parts/bottom.jspf" %>
