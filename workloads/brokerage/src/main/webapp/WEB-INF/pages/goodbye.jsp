<%@ include file="/WEB-INF/parts/top.jspf" %>
<p>Goodbye, ${fn:escapeXml(account.userId)}. You have logged out ${account.logouts} times.</p>
<form method="post" action="/login">
<p><label>Customer <input name="user" value="uid:0"></label></p>
<p><label>Password <input name="password" type="password"></label></p>
<p><button>Log in</button></p>
</form>
<%@ include file="/WEB-INF/parts/bottom.jspf" %>
