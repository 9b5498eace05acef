BEGIN;
CREATE TABLE customers (id int PRIMARY KEY, name text NOT NULL, city text NOT NULL);
CREATE TABLE orders (id int PRIMARY KEY, customer_id int NOT NULL REFERENCES customers, placed_at timestamptz NOT NULL, status text NOT NULL);
CREATE TABLE order_lines (
    order_id int NOT NULL REFERENCES orders, line int NOT NULL, product text NOT NULL, quantity int NOT NULL,
    unit_price numeric(8, 2) NOT NULL, PRIMARY KEY (order_id, line)
);
CREATE TABLE audit_log (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at timestamptz NOT NULL DEFAULT now(), action text NOT NULL, table_name text NOT NULL,
    row_id int NOT NULL, row_data jsonb, note text
);

INSERT INTO customers SELECT n, 'Customer ' || n, (ARRAY['Cluj', 'Graz', 'Porto', 'Turku'])[1 + n % 4] FROM generate_series(1, 40) n;
INSERT INTO customers VALUES (41, 'Mirela Anton', 'Cluj'), (42, 'Mihai Anton', 'Cluj'), (43, 'Qa Anton', 'Cluj'), (44, 'Quentin Aske', 'Graz');

INSERT INTO orders
SELECT 1000 + n, 1 + (n * 7) % 40, timestamptz '2026-01-05 08:00Z' + n * interval '11 hours', (ARRAY['paid', 'shipped', 'done'])[1 + n % 3]
FROM generate_series(1, 140) n;
INSERT INTO orders VALUES
    (1141, 41, '2026-01-07 10:00Z', 'cancelled'), (1142, 41, '2026-01-09 10:00Z', 'cancelled'), (1143, 42, '2026-03-12 19:30Z', 'paid'),
    (1144, 43, '2026-03-13 09:00Z', 'paid'), (1145, 44, '2026-03-13 09:20Z', 'paid'), (1146, 41, '2026-03-12 21:05Z', 'paid'),
    (1147, 44, '2026-03-13 09:40Z', 'paid');

INSERT INTO order_lines
SELECT o.id, l, (ARRAY['green tea', 'black tea', 'mint tea', 'blue kettle', 'honey'])[1 + (o.id + l) % 5], 1 + (o.id * l) % 3, 4.50 + (o.id % 9) + l
FROM orders o, generate_series(1, 3) l WHERE o.id < 1141;
INSERT INTO order_lines VALUES
    (1141, 1, 'honey', 2, 7.50), (1142, 1, 'blue kettle', 1, 39.00), (1142, 2, 'mint tea', 1, 5.50), (1143, 1, 'green tea', 4, 6.25),
    (1144, 1, 'blue kettle', 1, 41.00), (1144, 2, 'green tea', 1, 6.25), (1144, 3, 'black tea', 1, 5.75), (1144, 4, 'mint tea', 1, 5.50),
    (1145, 1, 'honey', 99, 7.50), (1146, 1, 'green tea', 2, 6.25), (1146, 2, 'black tea', 1, 5.75), (1146, 3, 'mint tea', 3, 5.50),
    (1146, 4, 'blue kettle', 1, 41.00), (1147, 1, 'honey', 1, 7.50);

CREATE FUNCTION keep_deleted_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO audit_log (action, table_name, row_id, row_data, note)
    VALUES ('delete', TG_TABLE_NAME, (to_jsonb(OLD) ->> (CASE TG_TABLE_NAME WHEN 'orders' THEN 'id' ELSE 'order_id' END))::int, to_jsonb(OLD),
        current_setting('shop.note', true));
    RETURN OLD;
END $$;
CREATE TRIGGER keep_deleted BEFORE DELETE ON orders FOR EACH ROW EXECUTE FUNCTION keep_deleted_row();
CREATE TRIGGER keep_deleted BEFORE DELETE ON order_lines FOR EACH ROW EXECUTE FUNCTION keep_deleted_row();

SET LOCAL shop.note = 'case 771';
DELETE FROM order_lines WHERE order_id IN (1141, 1142);
DELETE FROM orders WHERE id IN (1141, 1142);
SET LOCAL shop.note = 'qa clean-up';
DELETE FROM order_lines WHERE order_id BETWEEN 1144 AND 1147;
DELETE FROM orders WHERE id BETWEEN 1144 AND 1147;
COMMIT;
