#!/bin/bash
set -euo pipefail
# Deleted in the QA clean-up, of the customer who wrote, with three teas and a kettle.
order=$(psql -Atq <<'SQL'
SELECT a.row_id FROM audit_log a JOIN customers c ON c.id = (a.row_data ->> 'customer_id')::int
WHERE a.action = 'delete' AND a.table_name = 'orders' AND a.note = 'qa clean-up' AND c.name = 'Mirela Anton'
SQL
)
psql -q -v ON_ERROR_STOP=1 -v "order=$order" <<'SQL'
BEGIN;
INSERT INTO orders SELECT r.* FROM audit_log a, jsonb_populate_record(NULL::orders, a.row_data) r
WHERE a.action = 'delete' AND a.table_name = 'orders' AND a.row_id = :order;
INSERT INTO order_lines SELECT r.* FROM audit_log a, jsonb_populate_record(NULL::order_lines, a.row_data) r
WHERE a.action = 'delete' AND a.table_name = 'order_lines' AND a.row_id = :order;
INSERT INTO audit_log (action, table_name, row_id, note) VALUES ('restore', 'orders', :order, 'deleted by mistake with the QA orders');
COMMIT;
SQL
echo "$order" >/app/restored.txt
psql -c "SELECT * FROM orders WHERE id = $order"
