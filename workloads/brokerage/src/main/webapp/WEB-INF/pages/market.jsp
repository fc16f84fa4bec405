<%@ include file="/WEB-INF/parts/top.jspf" %>
<p>The market in figures; a WebSocket at <code>/market-feed</code> sends each change.</p>
<%@ include file="/WEB-INF/parts/bottom.jspf" %>
