<%@ tag pageEncoding="UTF-8" body-content="empty" trimDirectiveWhitespaces="true" %>
<%@ taglib prefix="c" uri="jakarta.tags.core" %>
<c:set var="portfolio" value="${requestScope.portfolio}"/>
<table>
<caption>Holdings</caption>
<thead><tr><th scope="col">Symbol</th><th scope="col">Shares</th><th scope="col">Bought</th><th scope="col">At</th><th scope="col">Price now</th><th scope="col">Cost</th><th scope="col">Value</th><th scope="col">Gain</th><th scope="col">Sell</th></tr></thead>
<tbody>
<c:forEach var="holding" items="${portfolio.holdings}">
<tr><td><a href="/quotes?symbols=${holding.symbol}">${holding.symbol}</a></td><td>${holding.quantity}</td><td>${holding.purchasedAt}</td><td>${holding.purchasePrice}</td><td>${holding.priceNow}</td><td>${holding.cost}</td><td>${holding.value}</td><td>${holding.gain}</td>
<td><c:choose><c:when test="${holding.inFlight}">being sold</c:when><c:otherwise><form method="post" action="/sell"><button name="holding" value="${holding.id}" data-holding="${holding.id}">Sell</button></form></c:otherwise></c:choose></td></tr>
</c:forEach>
</tbody>
<tfoot><tr><th scope="row" colspan="5">Total</th><td>${portfolio.cost}</td><td>${portfolio.value}</td><td>${portfolio.gain}</td><td></td></tr></tfoot>
</table>
