<%@ include file="/WEB-INF/parts/top.jspf" %>
<p role="alert">Status ${status}: ${fn:escapeXml(message)}</p>
<form method="post" action="/login">
<p><label>Customer <input name="user"></label></p>
<p><label>Password <input name="password" type="password"></label></p>
<p><button>Log in</button></p>
</form>
</section></main></body></html>
