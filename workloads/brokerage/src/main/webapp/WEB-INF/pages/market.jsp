<%@ page session="false" contentType="text/html; charset=UTF-8" %>
<%@ taglib prefix="c" uri="jakarta.tags.core" %>
<%@ taglib prefix="t" tagdir="/WEB-INF/tags" %>
<t:layout title="Market">
<p>The market in figures; a WebSocket at <code>/market-feed</code> sends each change.</p>
</t:layout>
