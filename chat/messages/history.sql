-- The walk of a branch for a prompt: messages, and the segments that summarize everything up to them (history.py, which
-- puts in the columns). Of several segments that end with the same message, the widest is the one that others were merged
-- into. OFFSET keeps each step a look-up by key: the planner would otherwise read all messages of the conversation.
WITH RECURSIVE walk (step, message, folded, next) AS (
    SELECT 0, NULL::bigint, NULL::bigint, %(until)s::bigint
    UNION ALL
    SELECT step + 1, CASE WHEN segment.id IS NULL THEN message.id END, segment.id,
        CASE WHEN segment.id IS NULL THEN message.parent_id ELSE segment.before_id END
    FROM walk
    JOIN LATERAL (
        SELECT id, parent_id, conversation_id, user_id FROM chat_message WHERE id = walk.next OFFSET 0
    ) AS message ON message.conversation_id = %(conversation)s::uuid AND message.user_id = %(user)s::bigint
    LEFT JOIN LATERAL (
        SELECT id, before_id FROM chat_segment WHERE last_message_id = message.id
        ORDER BY first_turn, id DESC LIMIT 1
    ) AS segment ON true
)
SELECT {columns}, walk.folded FROM walk LEFT JOIN chat_message AS message ON message.id = walk.message
WHERE step > 0 ORDER BY step DESC
