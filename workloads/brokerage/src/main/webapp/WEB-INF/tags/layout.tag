<%@ tag pageEncoding="UTF-8" body-content="scriptless" trimDirectiveWhitespaces="true" %>
<%@ attribute name="title" required="true" %>
<%@ taglib prefix="c" uri="jakarta.tags.core" %>
<%@ taglib prefix="t" tagdir="/WEB-INF/tags" %>
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="UTF-8">
<title>Brokerage: <c:out value="${title}"/></title>
<style>
body { font: 15px/1.4 system-ui, sans-serif; margin: 0 auto; max-width: 70rem; color: #1c2733; background: #fff; }
header { display: flex; justify-content: space-between; padding: .8rem 1rem; background: #12355b; color: #fff; }
nav a { color: #fff; margin-left: 1rem; text-decoration: none; }
nav a:hover, nav a:focus { text-decoration: underline; }
main { display: grid; grid-template-columns: 2fr 1fr; gap: 1.5rem; padding: 1rem; }
h1 { font-size: 1.4rem; margin: .5rem 0 1rem; }
h2 { font-size: 1.1rem; margin: 1rem 0 .5rem; }
table { border-collapse: collapse; width: 100%; margin-bottom: 1rem; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { border-bottom: 1px solid #d5dde5; padding: .3rem .5rem; text-align: right; }
th:first-child, td:first-child { text-align: left; }
aside { background: #f3f6f9; padding: .5rem 1rem; }
dl { display: grid; grid-template-columns: 10rem 1fr; gap: .2rem 1rem; }
dt { font-weight: 600; }
footer { padding: 1rem; color: #5b6b7b; border-top: 1px solid #d5dde5; }
</style>
</head>
<body>
<header>
<strong>Assay Brokerage</strong>
<nav aria-label="Main"><a href="/home">Home</a><a href="/account">Account</a><a href="/portfolio">Portfolio</a><a href="/quotes?symbols=s:0,s:1,s:2,s:3,s:4">Quotes</a><a href="/market">Market</a></nav>
</header>
<main>
<section>
<h1><c:out value="${title}"/></h1>
<jsp:doBody/>
</section>
<aside><t:market/></aside>
</main>
<footer>An invented brokerage: customers, companies and prices are made up. It is there to be measured.</footer>
</body>
</html>
