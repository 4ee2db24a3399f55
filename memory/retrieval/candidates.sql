-- The candidate search, in parts that candidates.py puts together. Names in braces are other parts or constants of
-- that module; every value is a parameter. The views own_… hold the acting user's rows (`recall/db/row_security.py`).
-- The user's id is cast because the word index has it as bigint: a plain integer can't use that index, and all users'
-- rows of a word would be read (190 ms instead of 24 in a million rows).


-- part: collection
-- The recursion steps along the index from one name to the next: distinct names of 100,000 rows in a millisecond.
WITH RECURSIVE authors AS (
    (SELECT author FROM own_memory_chunk WHERE user_id = %(user)s::bigint AND author > '' ORDER BY author LIMIT 1)
    UNION ALL
    SELECT (SELECT author FROM own_memory_chunk WHERE user_id = %(user)s::bigint AND author > authors.author
            ORDER BY author LIMIT 1)
    FROM authors WHERE authors.author IS NOT NULL
)
SELECT ARRAY(SELECT author FROM authors WHERE author IS NOT NULL LIMIT %(most)s::int), rows, models_indexed
FROM (SELECT) AS nothing LEFT JOIN memory_personalindex ON user_id = %(user)s::bigint


-- part: question
-- The words and the meaning of the question. Backslash and quote are doubled: a word is data in the tsquery, not syntax.
WITH languages AS MATERIALIZED (
    SELECT unnest(words_in)::regconfig AS language FROM accounts_user WHERE id = %(user)s::bigint
), {counted} asked AS MATERIALIZED (
    SELECT row_number() OVER () AS word, max(share) AS share, {known_rows} AS known_rows,
        hashtextextended(said, %(user)s::bigint) AS key,
        ('''' || replace(replace(said, '\', '\\'), '''', '''''') || '''')::tsquery AS query
    FROM (
        SELECT unnest(tsvector_to_array(to_tsvector(language, %(words)s::text))) AS said, 1.0::float8 AS share
        FROM languages
        UNION ALL SELECT unnest(tsvector_to_array(to_tsvector(language, %(context)s::text))),
            %(context_weight)s::float8
        FROM languages
    ) AS words GROUP BY said
), meant AS MATERIALIZED (
    SELECT model, meaning::halfvec AS meaning, binary_quantize(meaning::halfvec)::bit({dimension}) AS signs, unrelated,
        scale, set_config('hnsw.ef_search', %(nearby)s::text, true)
    FROM unnest(%(models)s::text[], %(vectors)s::text[], %(unrelated)s::float8[], %(scales)s::float8[])
        AS put (model, meaning, unrelated, scale)
), {deleted}


-- part: deleted
-- Nothing of a deleted conversation is recalled, nor the document about it, though their rows remain while it can be
-- restored. The lists are made once per statement, and looked up by NOT IN, which hashes them: no row is compared with
-- each deleted conversation.
deleted AS MATERIALIZED (
    SELECT id FROM chat_conversation WHERE user_id = %(user)s::bigint AND deleted_at IS NOT NULL
), deleted_digests AS MATERIALIZED (
    SELECT id FROM memory_document WHERE user_id = %(user)s::bigint AND source = 'librarian'
        AND external_id = ANY(ARRAY(SELECT 'conversation:' || deleted.id FROM deleted))
)


-- part: fits
-- What meaning, speaker and date add to a row's score (`RankingProfile.weights`).
%(by_meaning)s::float8 * coalesce(least(greatest((1 - (own.vector <=> meaning) - unrelated) * scale, 0), 1), 0) {beside}



-- part: rows_by_truth
-- Facts that hold, that no longer hold and that wait in Review: read once, limited each.
(SELECT *, {truth} AS truth FROM {table} AS own)


-- part: scan_near
{kind}_near AS MATERIALIZED (
    SELECT own.id, {by_truth}{fits} AS fits FROM {rows} AS own LEFT JOIN meant ON model = own.embedded_by WHERE {own}
)


-- part: date_match
+ ({when}::date <@ %(told_on)s::datemultirange)::int * %(date_match)s::float8


-- part: weights
-- A word weighs more the fewer of the user's rows hold it. A word that no row holds still counts in the sum, so that a
-- long question about something else doesn't match by a single word. Only searchable rows count: with rejected facts
-- and deleted conversations every word would seem rare. BACKGROUND_ROWS stand for all that isn't stored yet: among a
-- new user's three messages, what all three are about would else weigh nothing, and “called” everything.
weights AS MATERIALIZED (
    SELECT word, query, weight / sum(weight) OVER () AS weight FROM (
        SELECT word, query, share * ln(1 + (greatest(rows - found, 0) + 0.5) / (found + 0.5)) AS weight
        FROM (SELECT word, query, share, coalesce(known_rows, held, 0) AS found FROM asked LEFT JOIN
            (SELECT word, count(*) AS held FROM ({held}) AS hits GROUP BY word) AS counted USING (word)) AS searched,
            (SELECT ({rows})::float8 + %(background)s::float8 AS rows) AS counted
    ) AS rare
)


-- part: by_scan
-- The usual case, up to some thousands of rows: each row is compared, and checked for each word. One query for any of
-- the words takes three times as long.
{question}, {near}, {hits}, {weights}, {found} {candidates}


-- part: scan_hits
{kind}_hits AS MATERIALIZED (
    SELECT own.id, {by_truth}word, ts_rank({weights}, own.search, query) AS rank
    FROM (SELECT word, query, ARRAY[key] AS keys FROM asked) AS sought, {holding} WHERE {own}
)


-- part: scan_compared
-- The legs are added up, not joined: the planner expects few rows to hold the words, and would search those for each of
-- the others.
SELECT id, {by_truth}sum(share) AS share, sum(share) * %(by_words)s::float8 + sum(fits) AS score FROM (
        SELECT id, {by_truth}rank * weight AS share, 0 AS fits FROM {kind}_hits JOIN weights USING (word)
        UNION ALL SELECT id, {by_truth}0, fits FROM {kind}_near
    ) AS legs GROUP BY {by_truth}id


-- part: found
-- The rows that fit best by words and meaning together.
{kind}_found AS MATERIALIZED (
    SELECT id, share FROM ({compared}) AS compared ORDER BY score DESC, id LIMIT %({limit})s::int
)


-- part: found_by_truth
{kind}_found AS MATERIALIZED (
    SELECT id, truth, share FROM (
        SELECT id, truth, share, row_number() OVER (PARTITION BY truth COLLATE "C" ORDER BY score DESC, id) AS place
        FROM ({compared}) AS compared
    ) AS ordered WHERE place <= CASE truth WHEN 'past' THEN %(past)s::int ELSE %(statements)s::int END
)


-- part: by_index
-- From `PersonalIndex.COUNTED` rows on, two steps. The first selects some hundred rows: those nearest in meaning, and
-- those with the rarest words of the question; the index returns the rows with a rare word, with a common word while
-- there is room, and with two common words that are rarely together; if every pair is common, those with the three
-- rarest words. The second step compares only these rows, with all words.
{question}, common AS MATERIALIZED (
    SELECT word, key, known_rows, sum(known_rows) OVER (ORDER BY known_rows, word) AS together
    FROM asked WHERE known_rows IS NOT NULL ORDER BY known_rows LIMIT 4
), pairs AS MATERIALIZED (
    SELECT ARRAY[one.word, other.word] AS words, ARRAY[one.key, other.key] AS keys
    FROM common AS one JOIN common AS other ON one.word < other.word
    WHERE one.known_rows * other.known_rows <= %(pair)s::float8 * %(rows)s::float8
    ORDER BY one.known_rows * other.known_rows LIMIT 3
), sought AS MATERIALIZED (
    SELECT ARRAY[word] AS words, ARRAY[key] AS keys FROM asked WHERE known_rows IS NULL
    UNION ALL SELECT ARRAY[word], ARRAY[key] FROM common WHERE together <= %(common)s::float8
    UNION ALL SELECT words, keys FROM pairs
    UNION ALL (SELECT array_agg(word), array_agg(key)
               FROM (SELECT word, key FROM common ORDER BY known_rows LIMIT 3) AS rarest
               WHERE NOT EXISTS (SELECT FROM pairs) AND NOT EXISTS (SELECT FROM asked WHERE known_rows IS NULL)
               HAVING count(*) > 0)
), {hits}, {weights}, {near}, {found} {candidates}


-- part: counted
-- The concatenation unpacks the object once, not once per word.
counted AS MATERIALIZED (
    SELECT common_words || '{}'::jsonb AS words FROM memory_personalindex WHERE user_id = %(user)s::bigint
),


-- part: known_rows
(SELECT (counted.words ->> said)::float8 FROM counted)


-- part: index_hits
{kind}_hits AS MATERIALIZED (SELECT DISTINCT own.id, {by_truth}unnest(words) AS word FROM sought, {holding} WHERE {own})


-- part: holding
-- The word indexes have each word under its owner (`words_index`): among a million rows of a thousand users, the words of
-- a long question are found in half the time. The OFFSET keeps the planner from asking the index for all of the user's
-- rows for each word.
LATERAL (SELECT * FROM {rows_by_word} AS own WHERE memory_words_of(user_id, search) @> sought.keys OFFSET 0) AS own


-- part: hit
-- The rows with the rarest words.
(SELECT id FROM {kind}_hits JOIN weights USING (word) GROUP BY id ORDER BY sum(weight) DESC, id DESC LIMIT {look})


-- part: hit_by_truth
(SELECT id FROM (
    SELECT id, row_number() OVER (PARTITION BY truth COLLATE "C" ORDER BY sum(weight) DESC, id DESC) AS place
    FROM {kind}_hits JOIN weights USING (word) GROUP BY truth, id
) AS ordered WHERE place <= {look})


-- part: index_near
-- The limit is in the statement, which is planned once: for a parameter the planner expects a tenth of the rows, and reads
-- all of the user's to find these again.
{kind}_near AS MATERIALIZED (
    SELECT own.id FROM {rows} AS own JOIN meant ON model = own.embedded_by WHERE {own}
    ORDER BY {fits} DESC, id LIMIT {look}
)


-- part: index_near_by_truth
{kind}_near AS MATERIALIZED (
    SELECT id FROM (
        SELECT own.id, row_number() OVER (PARTITION BY truth COLLATE "C" ORDER BY {fits} DESC, own.id) AS place
        FROM {rows} AS own JOIN meant ON model = own.embedded_by WHERE {own}
    ) AS ordered WHERE place <= {look}
)


-- part: rough_near
-- The same by the signs of the vectors' numbers (the share that differs is an angle), so that only `chunk_signs` is read
-- and not the rows. For one model: those of another have other signs.
{kind}_near AS MATERIALIZED (
    SELECT own.id FROM {rows} AS own WHERE {own} AND own.signs IS NOT NULL
    ORDER BY %(by_meaning)s::float8 * least(greatest((
            cos((own.signs <~> (SELECT signs FROM meant)) * (pi() / {dimension})) - (SELECT unrelated FROM meant)
        ) * (SELECT scale FROM meant), 0), 1) {beside} DESC, id LIMIT {look}
)


-- part: indexed_near
-- Ordered by the very expression that the approximate index is made of, and nothing else, or it would not be used. It
-- looks at `hnsw.ef_search` rows, whichever is true of a fact.
{kind}_near AS MATERIALIZED (
    SELECT own.id FROM {rows} AS own WHERE {own} AND embedded_by = %(model)s::text AND vector IS NOT NULL
    ORDER BY (vector::halfvec({dimension})) <=> (SELECT meaning FROM meant WHERE model = %(model)s::text)::halfvec({dimension})
    LIMIT {look}
)


-- part: index_compared
-- A row's words are unpacked once, not once per word of the question: `ts_delete` of a word that no row has, and OFFSET 0.
-- They are compared once, not again wherever their share is used.
SELECT id, {by_truth}share, share * %(by_words)s::float8 + fits AS score FROM (
        SELECT own.id, {by_truth}{fits} AS fits, coalesce(
            (SELECT sum(weight * ts_rank({weights}, fetched.search, query)) FROM weights), 0) AS share
        FROM ({hit} UNION SELECT id FROM {kind}_near) AS chosen
            JOIN {rows} AS own USING (id) LEFT JOIN meant ON model = own.embedded_by,
            LATERAL (SELECT ts_delete(own.search, ''::text) AS search OFFSET 0) AS fetched
        OFFSET 0
    ) AS fetched


-- part: candidates
SELECT own.vector <=> meaning, own.embedded_by, share, {columns}, {in_project}
    FROM {kind}_found JOIN {table} AS own USING (id) LEFT JOIN meant ON model = own.embedded_by {which}


-- part: passages
-- Also those that waiting facts found, each as near as that fact.
SELECT CASE WHEN is_waiting THEN waiting_vector ELSE own.vector END <=> meaning, coalesce(model, ''), share, {columns}, {in_project}
    FROM (SELECT id, share, false AS is_waiting, NULL::halfvec AS waiting_vector, NULL AS waiting_model FROM {kind}_found
        {waiting}) AS found JOIN {table} AS own USING (id)
        LEFT JOIN meant ON model = CASE WHEN is_waiting THEN waiting_model ELSE own.embedded_by END
        LEFT JOIN memory_document AS document ON document.id = own.document_id
    WHERE {own}


-- part: waiting
-- What waits in Review is recalled as the message that says it, which its statement finds, too: of “pancakes without
-- wheat, please, I'm coeliac” no word speaks of a condition.
UNION ALL SELECT said.id, share, true, waiting.vector, waiting.embedded_by
        FROM fact_found JOIN own_memory_fact AS waiting USING (id),
            LATERAL (SELECT id FROM own_memory_chunk AS said WHERE said.message_id = waiting.message_id
                AND said.kind = 'message' ORDER BY strpos(said.text, waiting.quote) = 0, said.number LIMIT 1) AS said
        WHERE truth = 'waiting'


-- part: fact_state
-- A fact as the truth filter reads it (`truth.FactState`).
jsonb_build_array({fact}.id, {fact}.status, {fact}.statement, {fact}.quote, {fact}.key, {fact}.value,
    {fact}.valid_until, {fact}.superseded_by_id,
    (SELECT newer.statement FROM own_memory_fact AS newer WHERE newer.id = {fact}.superseded_by_id),
    (SELECT jsonb_build_array(newer.id, newer.statement) FROM memory_factlink AS link
     JOIN own_memory_fact AS newer ON newer.id = link.from_fact_id
     WHERE link.to_fact_id = {fact}.id AND link.relation = 'contradicts' AND newer.status = 'proposed'
     ORDER BY newer.id DESC LIMIT 1))


-- part: fact_columns
'fact', own.id, statement, '', recorded_at, message_id, importance, times_used, last_used_at, '',
        true, ''::text, 0, 0, tokens, status = 'archived', NULL::text, jsonb_build_array({state}), NULL::jsonb


-- part: fact_in_project
EXISTS (SELECT FROM chat_message AS message JOIN chat_conversation AS said_in
        ON said_in.id = message.conversation_id
        WHERE message.id = own.message_id AND said_in.scope = %(project)s::text)


-- part: episode_columns
'episode', own.id, summary, title, happened_at, NULL::bigint, significance, times_used, last_used_at,
        '', true, coalesce(conversation_id::text, ''), 0, 0, tokens, status = 'archived', NULL::text,
        (SELECT jsonb_agg({state}) FROM memory_episode_facts AS rests JOIN own_memory_fact AS fact ON fact.id = rests.fact_id
         WHERE rests.episode_id = own.id), NULL::jsonb


-- part: episode_in_project
EXISTS (SELECT FROM chat_conversation AS said_in
        WHERE said_in.id = own.conversation_id AND said_in.scope = %(project)s::text)


-- part: chunk_spoken
+ CASE WHEN own_words THEN %(own_words)s::float8 ELSE 0 END
            + CASE WHEN author = ANY(%(speakers)s::text[]) THEN %(name_match)s::float8 ELSE 0 END


-- part: chunk_columns
own.kind, CASE own.kind WHEN 'message' THEN own.message_id WHEN 'segment' THEN own.segment_id
        ELSE own.id END, own.text, concat_ws(' ', document.path::text, nullif(own.heading, '')), said_at,
        own.message_id, coalesce(document.importance, 0.5), own.times_used, own.last_used_at, author, own_words,
        coalesce(own.conversation_id::text, CASE document.source WHEN 'librarian'
            THEN substring(document.external_id FROM '^conversation:(.*)$') END, ''),
        place, number, own.tokens, false, nullif(omit, ''),
        (SELECT jsonb_agg({state}) FROM own_memory_fact AS fact WHERE fact.message_id = own.message_id),
        (SELECT jsonb_build_array(newer.message_id, newer.said_at)
         FROM memory_messagechange AS change JOIN own_memory_chunk AS newer ON newer.message_id = change.changed_by_id
         WHERE change.message_id = own.message_id AND change.user_id = %(user)s::bigint AND {newer}
         ORDER BY newer.said_at DESC, newer.number LIMIT 1)


-- part: newer
-- A message changes another only where it may itself be shown: not if its conversation is deleted, if it is made up or
-- forgotten, if the search leaves it out, if it was said later than is asked for, or outside the project.
newer.omit NOT IN ('made up', 'forgotten') AND newer.message_id <> ALL(%(hidden)s::bigint[])
    AND newer.said_at <= %(moment)s::timestamptz
    AND EXISTS (SELECT FROM chat_conversation AS said_in WHERE said_in.id = newer.conversation_id
        AND said_in.deleted_at IS NULL AND (%(scope)s::text = '' OR said_in.scope = %(scope)s::text))


-- part: chunk_in_project
coalesce(document.path <@ %(project_path)s::ltree, EXISTS (SELECT FROM chat_conversation AS said_in
        WHERE said_in.id = own.conversation_id AND said_in.scope = %(project)s::text))


-- part: active_facts
status IN ('active', 'archived')
    AND (valid_from IS NULL OR valid_from <= %(moment)s::timestamptz)
    AND (valid_until IS NULL OR valid_until > %(moment)s::timestamptz)


-- part: waiting_facts
status = 'proposed'


-- part: past_facts
(status IN ('superseded', 'expired', 'rejected')
    OR status IN ('active', 'archived') AND valid_until <= %(moment)s::timestamptz)


-- part: facts_of_scope
own.message_id IN (SELECT message.id FROM chat_message AS message JOIN chat_conversation AS said_in
 ON said_in.id = message.conversation_id WHERE said_in.user_id = %(user)s::bigint
 AND said_in.scope = %(scope)s::text)


-- part: of_scope
own.conversation_id IN (SELECT id FROM chat_conversation WHERE user_id = %(user)s::bigint AND scope = %(scope)s::text)


-- part: not_deleted
(own.conversation_id IS NULL OR own.conversation_id NOT IN (SELECT id FROM deleted))


-- part: digest_not_deleted
(own.document_id IS NULL OR own.document_id NOT IN (SELECT id FROM deleted_digests))


-- part: chunks_not_excluded
(own.message_id IS NULL OR own.message_id <> ALL(%(message_ids)s::bigint[]))
AND (own.segment_id IS NULL OR own.segment_id <> ALL(%(segment_ids)s::bigint[]))
AND own.id <> ALL(%(chunk_ids)s::bigint[])
