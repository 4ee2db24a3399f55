-- The walk of a branch for pages, and of a compacted span (branch_path.py). OFFSET keeps each step a look-up by key (see
-- history.sql).


-- part: walk
-- If several segments end with a message, take the original one, not the one it was merged into: a page shows each
-- compaction.
WITH RECURSIVE walk (step, message, segment, next) AS (
    SELECT 0, NULL::bigint, NULL::bigint, %(until)s::bigint
    UNION ALL
    SELECT step + 1, CASE WHEN segment.id IS NULL THEN message.id END, segment.id,
        CASE WHEN segment.id IS NULL THEN message.parent_id ELSE segment.before_id END
    FROM walk
    JOIN LATERAL (
        SELECT id, parent_id, conversation_id, user_id FROM chat_message WHERE id = walk.next OFFSET 0
    ) AS message ON message.conversation_id = %(conversation)s AND message.user_id = %(user)s
    LEFT JOIN LATERAL (
        SELECT id, before_id FROM chat_segment AS made WHERE made.last_message_id = message.id
            AND NOT EXISTS (SELECT 1 FROM chat_segment AS part WHERE part.merged_into_id = made.id)
        ORDER BY id DESC LIMIT 1
    ) AS segment ON true
    WHERE step < %(most)s
)
SELECT message, segment, next FROM walk WHERE step > 0 ORDER BY step DESC


-- part: compacted
WITH RECURSIVE compacted (step, id, parent) AS (
    SELECT 0, id, parent_id FROM chat_message WHERE id = %(last)s
    UNION ALL
    SELECT step + 1, message.id, message.parent_id
    FROM compacted
    JOIN LATERAL (SELECT id, parent_id FROM chat_message WHERE id = compacted.parent OFFSET 0) AS message ON true
    WHERE message.id IS DISTINCT FROM %(before)s
)
SELECT id FROM compacted ORDER BY step DESC
