<%@ include file="/WEB-INF/parts/top.jspf" %>
<%@ include file="/WEB-INF/parts/account.jspf" %>
<%@ include file="/WEB-INF/parts/holdings.jspf" %>
<%@ include file="/WEB-INF/parts/bottom.jspf" %>
