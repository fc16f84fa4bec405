<%@ page session="false" contentType="text/html; charset=UTF-8" %>
<%@ taglib prefix="c" uri="jakarta.tags.core" %>
<%@ taglib prefix="t" tagdir="/WEB-INF/tags" %>
<t:layout title="Not done">
<p role="alert">Status ${status}: <c:out value="${message}"/></p>
<form method="post" action="/login">
<p><label>Customer <input name="user"></label></p>
<p><label>Password <input name="password" type="password"></label></p>
<p><button>Log in</button></p>
</form>
</t:layout>
