<%@ page session="false" contentType="text/html; charset=UTF-8" %>
<%@ taglib prefix="c" uri="jakarta.tags.core" %>
<%@ taglib prefix="t" tagdir="/WEB-INF/tags" %>
<t:layout title="${title}">
<p><c:out value="${title}"/>, <c:out value="${account.userId}"/>.</p>
<t:account/>
<t:holdings/>
<form method="post" action="/logout"><button>Log out</button></form>
</t:layout>
