-- Conversations with a user message that has no passage (librarian_triggers.py). Messages of other branches than the
-- active one have none. A younger message may still be answered.
WITH RECURSIVE missing AS (
    SELECT m.id, m.conversation_id, c.active_leaf_id, c.last_activity_at
    FROM chat_message m JOIN chat_conversation c ON c.id = m.conversation_id
    WHERE m.id > %(after)s AND m.event_type = 'user_message' AND m.text ~ '\w' AND m.text <> %(forgotten)s
      AND NOT m.event_data ? 'continues' AND c.deleted_at IS NULL
      AND m.created_at < now() - interval '1 minute'
      AND NOT EXISTS (SELECT FROM memory_chunk k WHERE k.message_id = m.id AND k.message_id > %(after)s)
), branch (id) AS (
    SELECT active_leaf_id FROM missing
    UNION
    SELECT m.parent_id FROM branch JOIN chat_message m USING (id)
)
SELECT conversation_id FROM missing JOIN branch USING (id)
GROUP BY conversation_id ORDER BY max(last_activity_at) DESC LIMIT %(batch)s
