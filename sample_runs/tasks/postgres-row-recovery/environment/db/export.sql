-- What is left after the agent, as text that a verifier without a database can read.
\set ON_ERROR_STOP on
\pset format unaligned
\pset tuples_only on
\pset fieldsep '\t'
\o /var/lib/postgresql/export/orders.tsv
SELECT id, customer_id, extract(epoch FROM placed_at)::bigint, status FROM orders ORDER BY id;
\o /var/lib/postgresql/export/order_lines.tsv
SELECT * FROM order_lines ORDER BY order_id, line;
\o /var/lib/postgresql/export/audit.tsv
SELECT id, action, table_name, row_id, note FROM audit_log ORDER BY id;
\o /var/lib/postgresql/export/customers.tsv
SELECT * FROM customers ORDER BY id;
