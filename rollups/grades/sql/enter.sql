-- Enter one grade; a second time changes nothing. PostgreSQL.
-- Parameters: $1 item_type, $2 window, $3 from, $4 until, $5 exact version, $6 list version, $7 reason, then the measures.
INSERT INTO grades (item_type, window_name, from_time, until_time, exact_version, list_version, reason,
                    method, certified, items, exact_items, recall_100, recall_1000, shared_100, overcount, max_overcount, displacement)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
ON CONFLICT (window_name, until_time, item_type, exact_version) DO NOTHING
