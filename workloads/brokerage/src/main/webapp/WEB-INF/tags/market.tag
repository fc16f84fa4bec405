<%@ tag pageEncoding="UTF-8" body-content="empty" trimDirectiveWhitespaces="true" %>
<%@ taglib prefix="c" uri="jakarta.tags.core" %>
<c:set var="market" value="${requestScope.market}"/>
<c:if test="${not empty market}">
<h2>Market summary</h2>
<dl>
<dt>As of</dt><dd>${market.at}</dd>
<dt>Index</dt><dd>${market.index} (opened ${market.openIndex}, ${market.gainPercent} %)</dd>
<dt>Volume</dt><dd>${market.volume} shares</dd>
</dl>
<table>
<caption>Top gainers</caption>
<thead><tr><th scope="col">Symbol</th><th scope="col">Price</th><th scope="col">Change</th></tr></thead>
<tbody>
<c:forEach var="quote" items="${market.gainers}">
<tr><td><a href="/quotes?symbols=${quote.symbol}">${quote.symbol}</a></td><td>${quote.price}</td><td>${quote.priceChange}</td></tr>
</c:forEach>
</tbody>
</table>
<table>
<caption>Top losers</caption>
<thead><tr><th scope="col">Symbol</th><th scope="col">Price</th><th scope="col">Change</th></tr></thead>
<tbody>
<c:forEach var="quote" items="${market.losers}">
<tr><td><a href="/quotes?symbols=${quote.symbol}">${quote.symbol}</a></td><td>${quote.price}</td><td>${quote.priceChange}</td></tr>
</c:forEach>
</tbody>
</table>
<table>
<caption>Last trades</caption>
<thead><tr><th scope="col">Symbol</th><th scope="col">Shares</th><th scope="col">From</th><th scope="col">To</th></tr></thead>
<tbody>
<c:forEach var="change" items="${requestScope.ticker}">
<tr><td>${change.symbol}</td><td>${change.quantity}</td><td>${change.before}</td><td>${change.after}</td></tr>
</c:forEach>
</tbody>
</table>
</c:if>
