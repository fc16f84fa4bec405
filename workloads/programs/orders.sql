-- For H2, in memory: orders, joined, summed, changed and removed, over and over.
CREATE TABLE customer(id INT PRIMARY KEY, name VARCHAR(40));
CREATE TABLE orders(id BIGINT PRIMARY KEY, customer INT, amount DECIMAL(12, 2), note VARCHAR(80));
INSERT INTO customer SELECT x, 'customer ' || x FROM SYSTEM_RANGE(1, 5000);
INSERT INTO orders SELECT x, MOD(x * 7919, 5000) + 1, MOD(x * 31, 100000) / 100.0, 'order ' || x || ' of today' FROM SYSTEM_RANGE(1, 60000);
CREATE INDEX orders_customer ON orders(customer);
CREATE TABLE best AS SELECT name, SUM(amount) AS sum, COUNT(*) AS orders FROM customer JOIN orders ON customer.id = customer GROUP BY name ORDER BY 2 DESC;
UPDATE orders SET amount = amount * 1.1, note = note || '!' WHERE MOD(id, 3) = 0;
CREATE TABLE copy AS SELECT o.id, o.note || c.name AS text FROM orders o JOIN customer c ON c.id = o.customer ORDER BY text;
DELETE FROM orders WHERE MOD(id, 2) = 0;
CREATE TABLE again AS SELECT a.id, b.text FROM orders a JOIN copy b ON a.id = b.id ORDER BY b.text DESC;
SELECT COUNT(*) FROM again;
