-- Sums over the memories of receipts (memory_cost.py).


-- part: spent
WITH latest AS (
    SELECT id, created_at, items FROM budget_receipt
    WHERE user_id = %(user)s AND created_at >= %(since)s
    ORDER BY created_at DESC LIMIT %(turns)s
), kept AS (
    SELECT latest.id, latest.created_at, item.*
    FROM latest, jsonb_to_recordset(latest.items)
        AS item(ref text, section text, tokens int, score float, kept bool)
    WHERE item.kept AND item.section = ANY(%(sections)s) AND item.ref NOT LIKE 'update:%%'
), placed AS (
    SELECT ref, section, created_at, tokens,
        CASE WHEN section = 'memories'
            THEN rank() OVER (PARTITION BY id, section ORDER BY score DESC NULLS LAST) END AS place
    FROM kept
)
SELECT ref, section, count(*), sum(tokens), max(created_at), min(place), (SELECT count(*) FROM latest)
FROM placed GROUP BY ref, section


-- part: labels
SELECT item.ref, item.label, item.url
FROM budget_receipt, jsonb_to_recordset(items) AS item(ref text, section text, label text, url text, kept bool)
WHERE user_id = %(user)s AND created_at = ANY(%(moments)s) AND item.kept AND item.section = ANY(%(sections)s)
ORDER BY created_at
