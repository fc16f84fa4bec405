<%@ include file="/WEB-INF/parts/top.jspf" %>
<p role="status">${changed ? "Your profile was changed." : ""}</p>
<%@ include file="/WEB-INF/parts/account.jspf" %>
<h2>Profile</h2>
<form method="post" action="/update">
<p><label>Name <input name="name" value="${fn:escapeXml(profile.fullName)}"></label></p>
<p><label>Address <input name="address" value="${fn:escapeXml(profile.address)}"></label></p>
<p><label>E-mail <input name="email" value="${fn:escapeXml(profile.email)}"></label></p>
<p><label>Credit card <input name="credit_card" value="${fn:escapeXml(profile.creditCard)}"></label></p>
<p><button>Change</button></p>
</form>
<table>
<caption>Latest orders</caption>
<thead><tr><th scope="col">Order</th><th scope="col">State</th><th scope="col">Opened</th><th scope="col">Completed</th><th scope="col">Fee</th><th scope="col">Type</th><th scope="col">Symbol</th><th scope="col">Shares</th><th scope="col">Price</th><th scope="col">Value</th></tr></thead>
<tbody>
<c:forEach var="order" items="${orders}">
<tr><td>${order.id}</td><td>${order.state}</td><td>${order.openedAt}</td><td>${order.completedAt}</td><td>${order.fee}</td><td>${order.type}</td><td>${order.symbol}</td><td>${order.quantity}</td><td>${order.price}</td><td>${order.value}</td></tr>
</c:forEach>
</tbody>
</table>
<%@ include file="/WEB-INF/parts/bottom.jspf" %>
