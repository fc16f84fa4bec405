<%@ include file="/WEB-INF/parts/top.jspf" %>
<table>
<caption>Quotes</caption>
<thead><tr><th scope="col">Symbol</th><th scope="col">Company</th><th scope="col">Volume</th><th scope="col">Price</th><th scope="col">Open</th><th scope="col">Low</th><th scope="col">High</th><th scope="col">Change</th><th scope="col">Buy</th></tr></thead>
<tbody>
<c:forEach var="quote" items="${quotes}">
<tr><td>${quote.symbol}</td><td>${fn:escapeXml(quote.company)}</td><td>${quote.volume}</td><td>${quote.price}</td><td>${quote.openPrice}</td><td>${quote.lowPrice}</td><td>${quote.highPrice}</td><td>${quote.priceChange}</td>
<td><form method="post" action="/buy"><input type="hidden" name="symbol" value="${quote.symbol}"><input aria-label="Shares" name="quantity" value="100" size="4"><button>Buy</button></form></td></tr>
</c:forEach>
</tbody>
</table>
<%@ include file="/WEB-INF/parts/bottom.jspf" %>
