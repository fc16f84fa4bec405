<%@ tag pageEncoding="UTF-8" body-content="empty" trimDirectiveWhitespaces="true" %>
<%@ taglib prefix="c" uri="jakarta.tags.core" %>
<c:set var="account" value="${requestScope.account}"/>
<dl>
<dt>Customer</dt><dd><c:out value="${account.userId}"/></dd>
<dt>Account</dt><dd>${account.id}</dd>
<dt>Opened</dt><dd>${account.openedAt}</dd>
<dt>Last login</dt><dd>${account.lastLogin}</dd>
<dt>Logins, logouts</dt><dd>${account.logins}, ${account.logouts}</dd>
<dt>Opening balance</dt><dd>${account.openingBalance}</dd>
<dt>Balance</dt><dd>${account.balance}</dd>
<dt>Orders so far</dt><dd>${account.ordersOpened}</dd>
</dl>
