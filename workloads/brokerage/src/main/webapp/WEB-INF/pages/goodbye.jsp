<%@ page session="false" contentType="text/html; charset=UTF-8" %>
<%@ taglib prefix="c" uri="jakarta.tags.core" %>
<%@ taglib prefix="t" tagdir="/WEB-INF/tags" %>
<t:layout title="Goodbye">
<p>Goodbye, <c:out value="${account.userId}"/>. You have logged out ${account.logouts} times.</p>
<form method="post" action="/login">
<p><label>Customer <input name="user" value="uid:0"></label></p>
<p><label>Password <input name="password" type="password"></label></p>
<p><button>Log in</button></p>
</form>
</t:layout>
