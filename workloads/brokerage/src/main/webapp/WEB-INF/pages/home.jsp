<%@ include file="/WEB-INF/parts/top.jspf" %>
<p>${fn:escapeXml(title)}, ${fn:escapeXml(account.userId)}.</p>
<%@ include file="/WEB-INF/parts/account.jspf" %>
<%@ include file="/WEB-INF/parts/holdings.jspf" %>
<form method="post" action="/logout"><button>Log out</button></form>
<%@ include file="/WEB-INF/parts/bottom.jspf" %>
