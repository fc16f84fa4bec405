<%@ page session="false" contentType="text/html; charset=UTF-8" %>
<%@ taglib prefix="c" uri="jakarta.tags.core" %>
<%@ taglib prefix="t" tagdir="/WEB-INF/tags" %>
<t:layout title="Account">
<c:if test="${changed}"><p role="status">Your profile was changed.</p></c:if>
<t:account/>
<h2>Profile</h2>
<form method="post" action="/update">
<p><label>Name <input name="name" value="<c:out value="${profile.fullName}"/>"></label></p>
<p><label>Address <input name="address" value="<c:out value="${profile.address}"/>"></label></p>
<p><label>E-mail <input name="email" value="<c:out value="${profile.email}"/>"></label></p>
<p><label>Credit card <input name="credit_card" value="<c:out value="${profile.creditCard}"/>"></label></p>
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
</t:layout>
