CREATE FUNCTION public.audit_is_append_only() RETURNS trigger
    LANGUAGE plpgsql
    AS $$BEGIN RAISE EXCEPTION 'audit is append-only'; END$$;
CREATE TABLE public.annotations (
    id bigint NOT NULL,
    shape text NOT NULL,
    begins integer NOT NULL,
    ends integer NOT NULL,
    page integer,
    found_by text NOT NULL,
    grid integer NOT NULL
);
CREATE TABLE public.attempts (
    run_id text NOT NULL,
    row_id bigint NOT NULL,
    number integer NOT NULL,
    attempt text NOT NULL
);
CREATE TABLE public.audit (
    no integer NOT NULL,
    at text NOT NULL,
    who text NOT NULL,
    door text NOT NULL,
    action text NOT NULL,
    thing text NOT NULL,
    detail text NOT NULL
);
CREATE SEQUENCE public.audit_no_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.audit_no_seq OWNED BY public.audit.no;
CREATE TABLE public.cache (
    kind text NOT NULL,
    key text NOT NULL,
    value bytea NOT NULL,
    created_at text NOT NULL
);
CREATE TABLE public.cache_documents (
    kind text NOT NULL,
    key text NOT NULL,
    document_id text NOT NULL
);
CREATE TABLE public.cells (
    table_no integer NOT NULL,
    row_id bigint NOT NULL,
    field_id integer NOT NULL,
    status text NOT NULL,
    cell text NOT NULL
);
CREATE TABLE public.changes (
    table_no integer NOT NULL,
    change bigint NOT NULL,
    at text NOT NULL,
    actor text NOT NULL,
    kind text NOT NULL,
    run_id text,
    note text NOT NULL,
    first_seq bigint NOT NULL,
    last_seq bigint NOT NULL
);
CREATE TABLE public.conversations (
    id text NOT NULL,
    started_at text NOT NULL,
    summary text NOT NULL,
    last_turn integer NOT NULL
);
CREATE TABLE public.corpus (
    version bigint NOT NULL
);
CREATE TABLE public.document_texts (
    document_id text NOT NULL,
    content_hash text NOT NULL
);
CREATE TABLE public.documents (
    no integer NOT NULL,
    id text NOT NULL,
    path text NOT NULL,
    name text NOT NULL,
    file_hash text NOT NULL,
    text_hash text NOT NULL,
    readable boolean NOT NULL,
    segments integer NOT NULL,
    facts integer NOT NULL,
    rows integer NOT NULL,
    document text NOT NULL
);
CREATE SEQUENCE public.documents_no_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.documents_no_seq OWNED BY public.documents.no;
CREATE TABLE public.edits (
    table_no integer NOT NULL,
    seq bigint NOT NULL,
    kind text NOT NULL,
    row_id bigint,
    field_id integer,
    before text,
    after text
);
CREATE TABLE public.fields (
    table_no integer NOT NULL,
    field_id integer NOT NULL,
    "position" double precision NOT NULL,
    spec text NOT NULL,
    removed boolean NOT NULL
);
CREATE TABLE public.identities (
    issuer text NOT NULL,
    subject text NOT NULL,
    user_id text NOT NULL
);
CREATE TABLE public.imports (
    table_no integer NOT NULL,
    path text NOT NULL,
    content_hash text NOT NULL,
    reading text NOT NULL,
    at text NOT NULL
);
CREATE TABLE public.kind_rows (
    table_no integer NOT NULL,
    document_id text NOT NULL,
    row_id bigint NOT NULL,
    text_hash text NOT NULL
);
CREATE TABLE public.kind_tables (
    owner text NOT NULL,
    kind text NOT NULL,
    table_no integer NOT NULL
);
CREATE TABLE public.limits (
    key text NOT NULL,
    free_at double precision NOT NULL
);
CREATE TABLE public.listings (
    table_no integer NOT NULL,
    content text NOT NULL
);
CREATE TABLE public.operations (
    proposal_id text NOT NULL,
    row_id bigint NOT NULL,
    field text NOT NULL,
    attempt integer NOT NULL,
    as_of bigint NOT NULL,
    status text NOT NULL,
    confidence double precision NOT NULL,
    cell text NOT NULL,
    decision text NOT NULL,
    change bigint,
    steps text NOT NULL,
    edited text
);
CREATE TABLE public.pages (
    url text NOT NULL,
    content_hash text NOT NULL,
    final_url text NOT NULL,
    title text NOT NULL,
    domain text NOT NULL,
    retrieved_at text NOT NULL,
    checked_at text NOT NULL,
    etag text NOT NULL,
    last_modified text NOT NULL,
    extra text NOT NULL
);
CREATE TABLE public.properties (
    annotation_id bigint NOT NULL,
    "position" integer NOT NULL,
    label text NOT NULL,
    context text NOT NULL,
    begins integer NOT NULL,
    ends integer NOT NULL,
    raw text NOT NULL,
    number double precision,
    high double precision,
    unit text NOT NULL,
    si double precision,
    si_high double precision,
    base text NOT NULL,
    date text NOT NULL,
    currency text NOT NULL,
    truth boolean,
    ambiguity text NOT NULL
);
CREATE TABLE public.proposals (
    id text NOT NULL,
    table_no integer NOT NULL,
    run_id text NOT NULL,
    status text NOT NULL,
    reasoning text NOT NULL,
    fields text NOT NULL,
    created_at text NOT NULL,
    decided_at text
);
CREATE TABLE public.quotas (
    user_id text NOT NULL,
    what text NOT NULL,
    most double precision NOT NULL
);
CREATE TABLE public.requests (
    actor text NOT NULL,
    key text NOT NULL,
    route text NOT NULL,
    answer text NOT NULL,
    created_at text NOT NULL
);
CREATE TABLE public.research_documents (
    document_id text NOT NULL,
    research_id text NOT NULL
);
CREATE TABLE public.research_rounds (
    research_id text NOT NULL,
    number integer NOT NULL,
    content text NOT NULL
);
CREATE TABLE public.researches (
    id text NOT NULL,
    question text NOT NULL,
    brief text NOT NULL,
    status text NOT NULL,
    table_id text NOT NULL,
    max_tasks integer NOT NULL,
    report text,
    answered text NOT NULL,
    created_at text NOT NULL,
    updated_at text NOT NULL
);
CREATE TABLE public.result_rows (
    result_id text NOT NULL,
    "position" integer NOT NULL,
    document_id text NOT NULL,
    page integer,
    begins integer NOT NULL,
    ends integer NOT NULL,
    verdict text NOT NULL,
    content text NOT NULL
);
CREATE TABLE public.results (
    id text NOT NULL,
    question text NOT NULL,
    columns text NOT NULL,
    created_at text NOT NULL
);
CREATE TABLE public.rows (
    table_no integer NOT NULL,
    row_id bigint NOT NULL,
    key text NOT NULL,
    given text NOT NULL,
    removed boolean NOT NULL
);
CREATE TABLE public.run_events (
    run_id text NOT NULL,
    number bigint NOT NULL,
    at text NOT NULL,
    event text NOT NULL
);
CREATE TABLE public.run_slices (
    run_id text NOT NULL,
    number integer NOT NULL,
    todo text NOT NULL,
    owner text NOT NULL,
    done text NOT NULL,
    finished boolean NOT NULL,
    tally text NOT NULL,
    usage text NOT NULL,
    setbacks integer DEFAULT 0 NOT NULL
);
CREATE TABLE public.runs (
    id text NOT NULL,
    table_no integer NOT NULL,
    kind text NOT NULL,
    status text NOT NULL,
    spec text NOT NULL,
    started_at text NOT NULL,
    finished_at text,
    usage text NOT NULL,
    error text,
    owner text DEFAULT ''::text NOT NULL,
    stop text DEFAULT ''::text NOT NULL,
    total bigint DEFAULT 0 NOT NULL,
    done bigint DEFAULT 0 NOT NULL,
    last_event bigint DEFAULT 0 NOT NULL,
    person text DEFAULT ''::text NOT NULL
);
CREATE TABLE public.scheduled (
    table_id text NOT NULL
);
CREATE TABLE public.schema_version (
    version integer NOT NULL
);
CREATE TABLE public.segments (
    id bigint NOT NULL,
    begins integer NOT NULL,
    ends integer NOT NULL,
    page integer,
    heading text NOT NULL,
    text text NOT NULL
);
CREATE TABLE public.shares (
    kind text NOT NULL,
    thing_id text NOT NULL,
    user_id text NOT NULL,
    owns boolean NOT NULL
);
CREATE TABLE public.shortlists (
    id text NOT NULL,
    table_id text NOT NULL,
    state text NOT NULL,
    created_at text NOT NULL,
    updated_at text NOT NULL
);
CREATE TABLE public.spent (
    user_id text NOT NULL,
    month text NOT NULL,
    what text NOT NULL,
    amount double precision NOT NULL
);
CREATE TABLE public.summaries (
    id bigint NOT NULL,
    first integer NOT NULL,
    last integer NOT NULL,
    text text NOT NULL
);
CREATE TABLE public.table_ids (
    id text NOT NULL
);
CREATE TABLE public.tables (
    no integer NOT NULL,
    id text NOT NULL,
    name text NOT NULL,
    key_field text NOT NULL,
    created_at text NOT NULL,
    last_row bigint NOT NULL,
    last_field integer NOT NULL,
    last_change bigint NOT NULL,
    last_seq bigint NOT NULL,
    tags text DEFAULT '[]'::text NOT NULL
);
CREATE SEQUENCE public.tables_no_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.tables_no_seq OWNED BY public.tables.no;
CREATE TABLE public.texts (
    content_hash text NOT NULL,
    text bytea NOT NULL
);
CREATE TABLE public.tokens (
    id text NOT NULL,
    user_id text NOT NULL,
    name text NOT NULL,
    hash text NOT NULL,
    scopes text NOT NULL,
    created_at text NOT NULL,
    expires_at text NOT NULL,
    last_used_at text NOT NULL
);
CREATE TABLE public.turn_documents (
    document_id text NOT NULL,
    conversation_id text NOT NULL,
    number integer NOT NULL
);
CREATE TABLE public.turns (
    conversation_id text NOT NULL,
    number integer NOT NULL,
    turn text NOT NULL
);
CREATE TABLE public.users (
    id text CONSTRAINT people_id_not_null NOT NULL,
    name text CONSTRAINT people_name_not_null NOT NULL,
    role text CONSTRAINT people_role_not_null NOT NULL,
    created_at text CONSTRAINT people_created_at_not_null NOT NULL
);
CREATE TABLE public.vectors (
    document_no integer NOT NULL,
    target text NOT NULL,
    embedder text NOT NULL,
    dimensions integer NOT NULL,
    matrix bytea NOT NULL
);
CREATE TABLE public.views (
    table_no integer NOT NULL,
    name text NOT NULL,
    person text NOT NULL,
    content text NOT NULL
);
CREATE TABLE public.words (
    document_no integer NOT NULL,
    postings bytea NOT NULL,
    lengths bytea NOT NULL
);
CREATE TABLE public.workers (
    id text NOT NULL,
    kind text NOT NULL,
    host text NOT NULL,
    pid integer NOT NULL,
    started_at text NOT NULL,
    beat double precision NOT NULL
);
ALTER TABLE ONLY public.audit ALTER COLUMN no SET DEFAULT nextval('public.audit_no_seq'::regclass);
ALTER TABLE ONLY public.documents ALTER COLUMN no SET DEFAULT nextval('public.documents_no_seq'::regclass);
ALTER TABLE ONLY public.tables ALTER COLUMN no SET DEFAULT nextval('public.tables_no_seq'::regclass);
INSERT INTO public.annotations VALUES (16777216, 'fact', 7, 26, NULL, 'pairs', 0);
INSERT INTO public.annotations VALUES (16777217, 'fact', 27, 40, NULL, 'pairs', 0);
INSERT INTO public.attempts VALUES ('r2d62d7ffv', 1, 1, '{"number":1,"columns":["Founded"],"patterns":["%entity Founded year"],"queries":["Kestrelworks Founded year"],"urls":["http://www.candlewickpedia.example/wiki/Kestrelworks","http://www.kestrelworks.example/about-kestrelworks","http://www.kestrelworks.example/blog/ten-years","http://www.kestrelworks.example/"],"results":{"Founded":"2009"},"confidences":{"Founded":0.9875},"assessment":{}}');
INSERT INTO public.audit VALUES (1, '2026-11-18T21:32:23.116656Z', 'ann', 'command line', 'user', 'user bob', 'added as editor');
INSERT INTO public.audit VALUES (2, '2026-11-18T21:32:26.461964Z', 'ann', 'command line', 'share', 'table sales', 'with bob');
INSERT INTO public.cells VALUES (1, 2, 4, 'ENRICHED', '{"value":8,"raw_value":"8","status":"ENRICHED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(4 * 2, 2) = 8"}],"cost":0.0,"attempt":1,"run_id":"r7g4s44c6x","updated_at":"2026-11-18T21:31:51.691268Z"}');
INSERT INTO public.cells VALUES (1, 3, 4, 'FAILED', '{"status":"FAILED","reason":"not_applicable","cost":0.0,"attempt":1,"run_id":"r7g4s44c6x","updated_at":"2026-11-18T21:31:51.691268Z","error":"Price is empty"}');
INSERT INTO public.cells VALUES (3, 1, 1, 'ENRICHED', '{"value":"The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.","raw_value":"The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.","status":"ENRICHED","confidence":0.9,"basis":"stated","evidence":[{"origin":"http://www.benchquarterly.example/2026/parrotfish-bill","title":"A bill from Parrotfish Cloud - Bench Quarterly","quote":"The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.","start":62,"end":204,"domain":"benchquarterly.example","retrieved_at":"2026-11-18T21:32:18.296038Z","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"}],"updated_at":"2026-11-18T21:32:18.331606Z"}');
INSERT INTO public.cells VALUES (3, 2, 1, 'ENRICHED', '{"value":"In this issue: AI providers compared, a bill from Parrotfish Cloud, and why our own kettle tests moved to another magazine.","raw_value":"In this issue: AI providers compared, a bill from Parrotfish Cloud, and why our own kettle tests moved to another magazine.","status":"ENRICHED","confidence":0.9,"basis":"stated","evidence":[{"origin":"http://www.benchquarterly.example/","title":"This issue - Bench Quarterly","quote":"In this issue: AI providers compared, a bill from Parrotfish Cloud, and why our own kettle tests moved to another magazine.","start":249,"end":372,"domain":"benchquarterly.example","retrieved_at":"2026-11-18T21:32:18.262391Z","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"}],"updated_at":"2026-11-18T21:32:18.331644Z"}');
INSERT INTO public.cells VALUES (3, 3, 1, 'ENRICHED', '{"value":"A bill from Parrotfish Cloud","raw_value":"A bill from Parrotfish Cloud","status":"ENRICHED","confidence":0.9,"basis":"stated","evidence":[{"origin":"http://www.benchquarterly.example/","title":"This issue - Bench Quarterly","quote":"A bill from Parrotfish Cloud","start":463,"end":491,"domain":"benchquarterly.example","retrieved_at":"2026-11-18T21:32:18.262391Z","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"}],"updated_at":"2026-11-18T21:32:18.331654Z"}');
INSERT INTO public.cells VALUES (1, 1, 4, 'FLAGGED', '{"value":37.5,"raw_value":"37.5","status":"FLAGGED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(12.5 * 3, 2) = 37.5"}],"cost":0.0,"attempt":1,"run_id":"r7g4s44c6x","updated_at":"2026-11-18T21:31:51.691268Z","error":"flagged: net?"}');
INSERT INTO public.changes VALUES (1, 1, '2026-11-18T21:31:51.035860Z', 'ann', 'create', NULL, 'imported sales.csv', 1, 0);
INSERT INTO public.changes VALUES (1, 2, '2026-11-18T21:31:52.013337Z', 'ann', 'auto_apply', 'r7g4s44c6x', 'Computation: Total — found 2 of 3 rows', 1, 4);
INSERT INTO public.changes VALUES (2, 1, '2026-11-18T21:31:56.245240Z', 'ann', 'create', NULL, 'imported towns.csv', 1, 0);
INSERT INTO public.changes VALUES (3, 1, '2026-11-18T21:32:17.518041Z', 'ann', 'create', NULL, 'deep research', 1, 0);
INSERT INTO public.changes VALUES (3, 2, '2026-11-18T21:32:18.354942Z', 'ann', 'edit', NULL, 'notes of deep research', 1, 3);
INSERT INTO public.changes VALUES (1, 3, '2026-11-18T21:32:34.471866Z', 'ann', 'edit', NULL, 'flagged row 1, Total: net?', 5, 5);
INSERT INTO public.changes VALUES (1, 4, '2026-11-18T21:32:38.235685Z', 'ann', 'edit', NULL, 'flagged row 1, Total: net?', 6, 6);
INSERT INTO public.conversations VALUES ('cjty8h3vuu', '2026-11-18T21:32:07.826383Z', '', 1);
INSERT INTO public.corpus VALUES (1);
INSERT INTO public.document_texts VALUES ('doc_fah4xgya5', '06fec15942e405aaf566ea3006319d01ad462d5f9f0e97eba9c3d79646762f77');
INSERT INTO public.documents VALUES (1, 'doc_fah4xgya5', '/home/ann/papers/lease.txt', 'lease.txt', '06fec15942e405aaf566ea3006319d01ad462d5f9f0e97eba9c3d79646762f77', '06fec15942e405aaf566ea3006319d01ad462d5f9f0e97eba9c3d79646762f77', true, 1, 2, 0, '{"id":"doc_fah4xgya5","path":"/home/ann/papers/lease.txt","name":"lease.txt","title":"lease","media":"txt","heading":"Lease","categories":["short","data-heavy"],"file_hash":"06fec15942e405aaf566ea3006319d01ad462d5f9f0e97eba9c3d79646762f77","text_hash":"06fec15942e405aaf566ea3006319d01ad462d5f9f0e97eba9c3d79646762f77","size":41,"pages":1,"characters":41,"added_at":"2026-11-18T21:32:03.109917Z"}');
INSERT INTO public.edits VALUES (1, 1, 'add_field', NULL, 4, NULL, NULL);
INSERT INTO public.edits VALUES (1, 2, 'cell', 1, 4, NULL, '{"value":37.5,"raw_value":"37.5","status":"ENRICHED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(12.5 * 3, 2) = 37.5"}],"cost":0.0,"attempt":1,"run_id":"r7g4s44c6x","updated_at":"2026-11-18T21:31:51.691268Z"}');
INSERT INTO public.edits VALUES (1, 3, 'cell', 2, 4, NULL, '{"value":8,"raw_value":"8","status":"ENRICHED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(4 * 2, 2) = 8"}],"cost":0.0,"attempt":1,"run_id":"r7g4s44c6x","updated_at":"2026-11-18T21:31:51.691268Z"}');
INSERT INTO public.edits VALUES (1, 4, 'cell', 3, 4, NULL, '{"status":"FAILED","reason":"not_applicable","cost":0.0,"attempt":1,"run_id":"r7g4s44c6x","updated_at":"2026-11-18T21:31:51.691268Z","error":"Price is empty"}');
INSERT INTO public.edits VALUES (3, 1, 'add_row', 1, NULL, NULL, NULL);
INSERT INTO public.edits VALUES (3, 2, 'add_row', 2, NULL, NULL, NULL);
INSERT INTO public.edits VALUES (3, 3, 'add_row', 3, NULL, NULL, NULL);
INSERT INTO public.edits VALUES (1, 5, 'cell', 1, 4, '{"value":37.5,"raw_value":"37.5","status":"ENRICHED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(12.5 * 3, 2) = 37.5"}],"cost":0.0,"attempt":1,"run_id":"r7g4s44c6x","updated_at":"2026-11-18T21:31:51.691268Z"}', '{"value":37.5,"raw_value":"37.5","status":"FLAGGED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(12.5 * 3, 2) = 37.5"}],"cost":0.0,"attempt":1,"run_id":"r7g4s44c6x","updated_at":"2026-11-18T21:31:51.691268Z","error":"flagged: net?"}');
INSERT INTO public.edits VALUES (1, 6, 'cell', 1, 4, '{"value":37.5,"raw_value":"37.5","status":"FLAGGED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(12.5 * 3, 2) = 37.5"}],"cost":0.0,"attempt":1,"run_id":"r7g4s44c6x","updated_at":"2026-11-18T21:31:51.691268Z","error":"flagged: net?"}', '{"value":37.5,"raw_value":"37.5","status":"FLAGGED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(12.5 * 3, 2) = 37.5"}],"cost":0.0,"attempt":1,"run_id":"r7g4s44c6x","updated_at":"2026-11-18T21:31:51.691268Z","error":"flagged: net?"}');
INSERT INTO public.fields VALUES (1, 1, 1, '{"name":"Item"}', false);
INSERT INTO public.fields VALUES (1, 2, 2, '{"name":"Price","type":"number"}', false);
INSERT INTO public.fields VALUES (1, 3, 3, '{"name":"Quantity","type":"number"}', false);
INSERT INTO public.fields VALUES (1, 4, 4, '{"name":"Total","type":"number","question":"round({Price} * {Quantity}, 2)","depends_on":["Price","Quantity"]}', false);
INSERT INTO public.fields VALUES (2, 1, 1, '{"name":"Company"}', false);
INSERT INTO public.fields VALUES (3, 1, 1, '{"name":"Statement"}', false);
INSERT INTO public.fields VALUES (3, 2, 2, '{"name":"Section"}', false);
INSERT INTO public.fields VALUES (3, 3, 3, '{"name":"Source","type":"url"}', false);
INSERT INTO public.imports VALUES (1, 'vm:/home/ann/sales.csv', '4f40576f86f6c04fe9e15ba9d74c56e3e0007776f30523279b9bfc6afc30e71d', '('''', True, None, None, None)', '2026-11-18T21:31:51.037933Z');
INSERT INTO public.imports VALUES (2, 'vm:/home/ann/towns.csv', '4cd91f690b39cdeb4b5ef7f10a3f599970cb8eeab84f384dbf2c4706f3d804ee', '('''', True, None, None, None)', '2026-11-18T21:31:56.249184Z');
INSERT INTO public.operations VALUES ('p32evwcuk4', 1, 'Total', 1, 0, 'ENRICHED', 1, '{"value":37.5,"raw_value":"37.5","status":"ENRICHED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(12.5 * 3, 2) = 37.5"}],"cost":0.0,"attempt":1,"run_id":"r7g4s44c6x","updated_at":"2026-11-18T21:31:51.691268Z"}', 'applied', 2, '[{"type":"compute","detail":"round(12.5 * 3, 2) = 37.5"},{"type":"answer","detail":"37.5"}]', NULL);
INSERT INTO public.operations VALUES ('p32evwcuk4', 2, 'Total', 1, 0, 'ENRICHED', 1, '{"value":8,"raw_value":"8","status":"ENRICHED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(4 * 2, 2) = 8"}],"cost":0.0,"attempt":1,"run_id":"r7g4s44c6x","updated_at":"2026-11-18T21:31:51.691268Z"}', 'applied', 2, '[{"type":"compute","detail":"round(4 * 2, 2) = 8"},{"type":"answer","detail":"8"}]', NULL);
INSERT INTO public.operations VALUES ('p32evwcuk4', 3, 'Total', 1, 0, 'FAILED', 0, '{"status":"FAILED","reason":"not_applicable","cost":0.0,"attempt":1,"run_id":"r7g4s44c6x","updated_at":"2026-11-18T21:31:51.691268Z","error":"Price is empty"}', 'applied', 2, '[{"type":"error","detail":"Price is empty"}]', NULL);
INSERT INTO public.operations VALUES ('pw29p3j3gm', 1, 'Founded', 1, 0, 'ENRICHED', 0.9875, '{"value":2009,"raw_value":"2009","status":"ENRICHED","confidence":0.9875,"basis":"stated","evidence":[{"origin":"http://www.candlewickpedia.example/wiki/Kestrelworks","title":"Kestrelworks – Candlewick Encyclopedia","quote":"Founded: 2009","start":95,"end":108,"domain":"candlewickpedia.example","retrieved_at":"2026-11-18T21:31:57.382712Z","content_hash":"bffc5379037b6fb86267435c77545abda68348f914b8b6ff9ad594d34137248d"},{"origin":"http://www.kestrelworks.example/about-kestrelworks","title":"About Kestrelworks · Kestrelworks","quote":"Established: 2009","start":221,"end":238,"domain":"kestrelworks.example","retrieved_at":"2026-11-18T21:31:57.414857Z","content_hash":"23504efe7870bd0be692e585783231e0bca7fe7ebfc871fe91f4aaca6213e7f8"}],"cost":0.0,"attempt":1,"run_id":"r2d62d7ffv","updated_at":"2026-11-18T21:31:57.647030Z"}', 'open', NULL, '[{"type":"search","detail":"Searched “Kestrelworks Founded year”: 10 results.","data":{"query":"Kestrelworks Founded year","results":10,"pattern":"%entity Founded year"}},{"type":"fetch","detail":"Read “Kestrelworks – Candlewick Encyclopedia” (candlewickpedia.example).","data":{"url":"http://www.candlewickpedia.example/wiki/Kestrelworks"}},{"type":"fetch","detail":"Read “About Kestrelworks · Kestrelworks” (kestrelworks.example).","data":{"url":"http://www.kestrelworks.example/about-kestrelworks"}},{"type":"fetch","detail":"Read “Ten years, and a bird on the roof · Kestrelworks” (kestrelworks.example).","data":{"url":"http://www.kestrelworks.example/blog/ten-years"}},{"type":"fetch","detail":"Read “Rotas that people like · Kestrelworks” (kestrelworks.example).","data":{"url":"http://www.kestrelworks.example/"}},{"type":"thinking","detail":"candlewickpedia.example says 2009: “Founded: 2009”","data":{"url":"http://www.candlewickpedia.example/wiki/Kestrelworks","same_row":"same","doubt":""}},{"type":"thinking","detail":"kestrelworks.example says 2009: “Established: 2009”","data":{"url":"http://www.kestrelworks.example/about-kestrelworks","same_row":"same","doubt":""}},{"type":"coverage","detail":"high: 1 of 1 answered","data":{"rating":"high"}},{"type":"answer","detail":"2009 — candlewickpedia.example: “Founded: 2009”; also from kestrelworks.example"}]', NULL);
INSERT INTO public.properties VALUES (16777216, 0, 'Tenant', '', 15, 26, 'Ilse Brandt', NULL, NULL, '', NULL, NULL, '', '', '', NULL, '');
INSERT INTO public.properties VALUES (16777217, 0, 'Rent', '', 33, 40, '840 EUR', 840, NULL, '', NULL, NULL, '', '', 'EUR', NULL, '');
INSERT INTO public.proposals VALUES ('p32evwcuk4', 1, 'r7g4s44c6x', 'applied', 'Computation: Total — found 2 of 3 rows', '[{"name":"Total","type":"number","question":"round({Price} * {Quantity}, 2)","depends_on":["Price","Quantity"]}]', '2026-11-18T21:31:51.713827Z', '2026-11-18T21:31:52.028574Z');
INSERT INTO public.proposals VALUES ('pw29p3j3gm', 2, 'r2d62d7ffv', 'open', 'Web pipeline: Founded — found 1 of 1 rows', '[{"name":"Founded","type":"number","question":"What year was {Company} founded?","depends_on":["Company"]}]', '2026-11-18T21:31:56.986404Z', NULL);
INSERT INTO public.research_rounds VALUES ('ddcvcsptcf', 1, '{"index":1,"tasks":[{"id":"r1_1","kind":"discover","search_query":"What does the Lagoon plan of Parrotfish Cloud cost?"}],"notes":[{"task":{"id":"r1_1","kind":"discover","search_query":"What does the Lagoon plan of Parrotfish Cloud cost?"},"sources":[{"url":"http://www.benchquarterly.example/2026/parrotfish-bill","domain":"benchquarterly.example","title":"A bill from Parrotfish Cloud - Bench Quarterly","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"},{"url":"http://www.parrotfish.example/pricing","domain":"parrotfish.example","title":"Plans and prices · Parrotfish Cloud","content_hash":"3974e220abe70d6ce271e3cae3ae8b5aba06cb83f7bda921ddd769cde32926c5"},{"url":"http://www.parrotfish.example/","domain":"parrotfish.example","title":"One endpoint, every model · Parrotfish Cloud","content_hash":"3dd07e54eec02aeb139fb58c62fd840a33bf027a622e2258b70cae110c8758de"},{"url":"http://www.oakwellreasoning.example/fees","domain":"oakwellreasoning.example","title":"What we charge | Oakwell Reasoning","content_hash":"77bc5d9dd7bde001647337d2a2bac2862712b16bc3b97f1cbdc64337911fd4f4"},{"url":"http://www.benchquarterly.example/","domain":"benchquarterly.example","title":"This issue - Bench Quarterly","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"}],"steps":[{"type":"search","detail":"Searched “What does the Lagoon plan of Parrotfish Cloud cost?”: 10 results.","data":{"query":"What does the Lagoon plan of Parrotfish Cloud cost?","results":10}},{"type":"fetch","detail":"Read “A bill from Parrotfish Cloud - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/2026/parrotfish-bill"}},{"type":"fetch","detail":"Read “Plans and prices · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/pricing"}},{"type":"fetch","detail":"Read “One endpoint, every model · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/"}},{"type":"fetch","detail":"Read “What we charge | Oakwell Reasoning” (oakwellreasoning.example).","data":{"url":"http://www.oakwellreasoning.example/fees"}},{"type":"fetch","detail":"Read “This issue - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/"}}]}],"memo":{"query":"What does the Lagoon plan of Parrotfish Cloud cost?","report_type":"narrative","round_index":1,"tasks_completed":1,"tasks_remaining":14,"unique_citations":2,"unique_domains":1,"pages_extracted":5,"sources_summary":[{"url":"http://www.benchquarterly.example/2026/parrotfish-bill","domain":"benchquarterly.example","title":"A bill from Parrotfish Cloud - Bench Quarterly","has_evidence":true},{"url":"http://www.benchquarterly.example/","domain":"benchquarterly.example","title":"This issue - Bench Quarterly","has_evidence":true},{"url":"http://www.parrotfish.example/pricing","domain":"parrotfish.example","title":"Plans and prices · Parrotfish Cloud"},{"url":"http://www.parrotfish.example/","domain":"parrotfish.example","title":"One endpoint, every model · Parrotfish Cloud"},{"url":"http://www.oakwellreasoning.example/fees","domain":"oakwellreasoning.example","title":"What we charge | Oakwell Reasoning"}]},"kind":"discover","source_notes":[{"number":1,"statement":"The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.","evidence":{"origin":"http://www.benchquarterly.example/2026/parrotfish-bill","title":"A bill from Parrotfish Cloud - Bench Quarterly","quote":"The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.","start":62,"end":204,"domain":"benchquarterly.example","retrieved_at":"2026-11-18T21:32:18.296038Z","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"}},{"number":2,"statement":"In this issue: AI providers compared, a bill from Parrotfish Cloud, and why our own kettle tests moved to another magazine.","evidence":{"origin":"http://www.benchquarterly.example/","title":"This issue - Bench Quarterly","quote":"In this issue: AI providers compared, a bill from Parrotfish Cloud, and why our own kettle tests moved to another magazine.","start":249,"end":372,"domain":"benchquarterly.example","retrieved_at":"2026-11-18T21:32:18.262391Z","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"}},{"number":3,"statement":"A bill from Parrotfish Cloud","evidence":{"origin":"http://www.benchquarterly.example/","title":"This issue - Bench Quarterly","quote":"A bill from Parrotfish Cloud","start":463,"end":491,"domain":"benchquarterly.example","retrieved_at":"2026-11-18T21:32:18.262391Z","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"}}],"usage":{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":1,"fetches":5,"cache_hits":0,"cost_usd":0.0,"seconds":0.615}}');
INSERT INTO public.research_rounds VALUES ('ddcvcsptcf', 2, '{"index":2,"tasks":[],"notes":[],"memo":{"query":"What does the Lagoon plan of Parrotfish Cloud cost?","report_type":"narrative","round_index":2,"tasks_completed":1,"tasks_remaining":14,"unique_citations":2,"unique_domains":1,"pages_extracted":5,"sources_summary":[{"url":"http://www.benchquarterly.example/2026/parrotfish-bill","domain":"benchquarterly.example","title":"A bill from Parrotfish Cloud - Bench Quarterly","has_evidence":true},{"url":"http://www.benchquarterly.example/","domain":"benchquarterly.example","title":"This issue - Bench Quarterly","has_evidence":true},{"url":"http://www.parrotfish.example/pricing","domain":"parrotfish.example","title":"Plans and prices · Parrotfish Cloud"},{"url":"http://www.parrotfish.example/","domain":"parrotfish.example","title":"One endpoint, every model · Parrotfish Cloud"},{"url":"http://www.oakwellreasoning.example/fees","domain":"oakwellreasoning.example","title":"What we charge | Oakwell Reasoning"}]},"kind":"fill","usage":{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":0,"fetches":0,"cache_hits":0,"cost_usd":0.0,"seconds":0.0},"ended":"a model is needed to see what is missing"}');
INSERT INTO public.research_rounds VALUES ('ddcvcsptcf', 3, '{"index":3,"tasks":[],"notes":[],"memo":{"query":"What does the Lagoon plan of Parrotfish Cloud cost?","report_type":"narrative","round_index":3,"tasks_completed":1,"tasks_remaining":14,"unique_citations":2,"unique_domains":1,"pages_extracted":5,"sources_summary":[{"url":"http://www.benchquarterly.example/2026/parrotfish-bill","domain":"benchquarterly.example","title":"A bill from Parrotfish Cloud - Bench Quarterly","has_evidence":true},{"url":"http://www.benchquarterly.example/","domain":"benchquarterly.example","title":"This issue - Bench Quarterly","has_evidence":true},{"url":"http://www.parrotfish.example/pricing","domain":"parrotfish.example","title":"Plans and prices · Parrotfish Cloud"},{"url":"http://www.parrotfish.example/","domain":"parrotfish.example","title":"One endpoint, every model · Parrotfish Cloud"},{"url":"http://www.oakwellreasoning.example/fees","domain":"oakwellreasoning.example","title":"What we charge | Oakwell Reasoning"}]},"kind":"verify","usage":{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":0,"fetches":0,"cache_hits":0,"cost_usd":0.0,"seconds":0.0},"ended":"a model is needed to check claims"}');
INSERT INTO public.researches VALUES ('ddcvcsptcf', 'What does the Lagoon plan of Parrotfish Cloud cost?', '{"question":"What does the Lagoon plan of Parrotfish Cloud cost?","report_type":"narrative","queries":["What does the Lagoon plan of Parrotfish Cloud cost?"],"today":"2026-11-18","usage":{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":0,"fetches":0,"cache_hits":0,"cost_usd":0.0,"seconds":0.0}}', 'done', 'what-does-the-lagoon-plan-of-parrotfish', 15, '{"title":"What does the Lagoon plan of Parrotfish Cloud cost","question":"What does the Lagoon plan of Parrotfish Cloud cost?","report_type":"narrative","sections":[{"heading":"Excerpts","sentences":[{"text":"The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.","citations":[1]},{"text":"In this issue: AI providers compared, a bill from Parrotfish Cloud, and why our own kettle tests moved to another magazine.","citations":[2]},{"text":"A bill from Parrotfish Cloud","citations":[2]}]}],"references":[{"number":1,"url":"http://www.benchquarterly.example/2026/parrotfish-bill","title":"A bill from Parrotfish Cloud - Bench Quarterly","domain":"benchquarterly.example","quotes":["The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49."],"retrieved_at":"2026-11-18T21:32:18.296038Z","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"},{"number":2,"url":"http://www.benchquarterly.example/","title":"This issue - Bench Quarterly","domain":"benchquarterly.example","quotes":["In this issue: AI providers compared, a bill from Parrotfish Cloud, and why our own kettle tests moved to another magazine.","A bill from Parrotfish Cloud"],"retrieved_at":"2026-11-18T21:32:18.262391Z","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"}],"sources":[{"url":"http://www.benchquarterly.example/2026/parrotfish-bill","domain":"benchquarterly.example","title":"A bill from Parrotfish Cloud - Bench Quarterly","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"},{"url":"http://www.parrotfish.example/pricing","domain":"parrotfish.example","title":"Plans and prices · Parrotfish Cloud","content_hash":"3974e220abe70d6ce271e3cae3ae8b5aba06cb83f7bda921ddd769cde32926c5"},{"url":"http://www.parrotfish.example/","domain":"parrotfish.example","title":"One endpoint, every model · Parrotfish Cloud","content_hash":"3dd07e54eec02aeb139fb58c62fd840a33bf027a622e2258b70cae110c8758de"},{"url":"http://www.oakwellreasoning.example/fees","domain":"oakwellreasoning.example","title":"What we charge | Oakwell Reasoning","content_hash":"77bc5d9dd7bde001647337d2a2bac2862712b16bc3b97f1cbdc64337911fd4f4"},{"url":"http://www.benchquarterly.example/","domain":"benchquarterly.example","title":"This issue - Bench Quarterly","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"}],"rounds":[{"index":1,"name":"discovery","tasks":["What does the Lagoon plan of Parrotfish Cloud cost?"]},{"index":2,"name":"gap-filling","stopped":"a model is needed to see what is missing"},{"index":3,"name":"verification","stopped":"a model is needed to check claims"}],"notes":["Only 1 site speaks in this report; 3 at least were looked for."],"unread":true,"usage":{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":1,"fetches":5,"cache_hits":0,"cost_usd":0.0,"seconds":0.622},"created_at":"2026-11-18T21:32:18.435302Z"}', '[]', '2026-11-18T21:32:17.526652Z', '2026-11-18T21:32:18.439138Z');
INSERT INTO public.rows VALUES (1, 1, 'pen', '[{"1":"Pen","2":12.5,"3":3},{"2":"12.50"}]', false);
INSERT INTO public.rows VALUES (1, 2, 'ink', '[{"1":"Ink","2":4,"3":2},{}]', false);
INSERT INTO public.rows VALUES (1, 3, 'cap', '[{"1":"Cap","3":4},{}]', false);
INSERT INTO public.rows VALUES (2, 1, 'kestrelworks', '[{"1":"Kestrelworks"},{}]', false);
INSERT INTO public.rows VALUES (3, 1, 'lagoon plan of parrotfish cloud costs 59 per month since the middle of june says the bill that we got its web page still speaks of 49', '[{"3":"http://www.benchquarterly.example/2026/parrotfish-bill"},{}]', false);
INSERT INTO public.rows VALUES (3, 2, 'in this issue ai providers compared a bill from parrotfish cloud and why our own kettle tests moved to another magazine', '[{"3":"http://www.benchquarterly.example/"},{}]', false);
INSERT INTO public.rows VALUES (3, 3, 'a bill from parrotfish cloud', '[{"3":"http://www.benchquarterly.example/"},{}]', false);
INSERT INTO public.run_slices VALUES ('r2d62d7ffv', 1, '{"row_ids":[1]}', 'vm-3903-b8eac0/syr958vjv6', '[1]', true, '{"rows":1,"found":1,"empty":0,"skipped":0,"left":0,"unasked":0,"bought_rows":1,"bought_cells":1,"degraded":0,"incomplete":0,"skipped_rows":[],"cause":""}', '{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":1,"fetches":6,"cache_hits":0,"cost_usd":0.0,"seconds":0.0}', 0);
INSERT INTO public.runs VALUES ('r7g4s44c6x', 1, 'enrich', 'done', '{"strategy":"computation","params":{},"model":"","strong":"","cascade":false,"attempts":3,"fields":["Total"],"concurrency":10,"again":false,"max_rows":null,"examples":{},"rows":0,"cells":0,"tally":{"rows":3,"found":2,"empty":1,"skipped":0,"left":0,"unasked":0,"bought_rows":0,"bought_cells":0,"degraded":0,"incomplete":0,"skipped_rows":[],"cause":""}}', '2026-11-18T21:31:51.708584Z', '2026-11-18T21:31:51.807395Z', '{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":0,"fetches":0,"cache_hits":0,"cost_usd":0.0,"seconds":0.087}', NULL, 'vm-3533-here', '', 0, 0, 0, '');
INSERT INTO public.runs VALUES ('r2d62d7ffv', 2, 'enrich', 'done', '{"strategy":"pipeline","params":{"rows_a_call":"8"},"model":"","strong":"","cascade":false,"attempts":3,"fields":["Founded"],"concurrency":8,"again":false,"max_rows":null,"examples":{},"settings":{"model":"builtin","model_strong":"","model_base_url":"","model_fallback":"","model_requests_per_minute":"","model_tokens_per_minute":"","model_concurrency":"","model_window":"","model_timeout":"","search":"sample","sources":"web","search_language":"","search_price":"","search_requests_per_second":"","embedder":"wordllama","embedder_base_url":"","fetch_allow":"","fetch_delay":"0","fetch_robots":"yes","evidence":"judged","cascade":"no","attempts":"3","threshold":"0.6","require_improvement":"yes","documents_unasked":"60","shortlist_products":"30","shortlist_queries":"12","shortlist_seconds":"300","shortlist_search_seconds":"30","shortlist_retries":"0","research_searches":"15","research_first_searches":"5","research_checking_searches":"2","research_pages":"5","research_rounds":"3","research_claims":"3","research_sites":"3","research_memo_tokens":"2000","research_items":"5","rates":"","offline":"no","pause_after":"5","budget":"","budget_tokens":"","quota_uploads":"","quota_rows":"","quota_disk":"","quota_dollars":"","concurrency":""},"retry":{"threshold":0.6},"rows":1,"cells":1,"tally":{"rows":1,"found":1,"empty":0,"skipped":0,"left":0,"unasked":0,"bought_rows":1,"bought_cells":1,"degraded":0,"incomplete":0,"skipped_rows":[],"cause":""}}', '2026-11-18T21:31:56.983175Z', '2026-11-18T21:31:58.219841Z', '{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":1,"fetches":6,"cache_hits":0,"cost_usd":0.0,"seconds":1.228}', NULL, 'vm-3903-b8eac0', '', 1, 1, 5, '');
INSERT INTO public.runs VALUES ('r5caetn42h', 3, 'research', 'done', '{"research":"ddcvcsptcf","minutes":null,"question":"What does the Lagoon plan of Parrotfish Cloud cost?","actor":"ann","holder":"vm-4616-4d720e/heb7fyzbjt","setbacks":0}', '2026-11-18T21:32:17.656932Z', '2026-11-18T21:32:18.466050Z', '{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":1,"fetches":5,"cache_hits":0,"cost_usd":0.0,"seconds":0.785}', NULL, 'vm-4616-4d720e', '', 0, 0, 9, '');
INSERT INTO public.runs VALUES ('rjr97uav9j', 0, 'ingest', 'done', '{}', '2026-11-18T21:32:01.950085Z', '2026-11-18T21:32:03.506412Z', '{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":0,"fetches":0,"cache_hits":0,"cost_usd":0.0,"seconds":1.535}', NULL, 'vm-4175-80182d', '', 1, 1, 2, '');
INSERT INTO public.schema_version VALUES (1);
INSERT INTO public.schema_version VALUES (2);
INSERT INTO public.schema_version VALUES (3);
INSERT INTO public.schema_version VALUES (4);
INSERT INTO public.schema_version VALUES (5);
INSERT INTO public.schema_version VALUES (6);
INSERT INTO public.schema_version VALUES (7);
INSERT INTO public.schema_version VALUES (8);
INSERT INTO public.schema_version VALUES (9);
INSERT INTO public.schema_version VALUES (10);
INSERT INTO public.schema_version VALUES (11);
INSERT INTO public.schema_version VALUES (12);
INSERT INTO public.schema_version VALUES (13);
INSERT INTO public.schema_version VALUES (14);
INSERT INTO public.schema_version VALUES (15);
INSERT INTO public.schema_version VALUES (16);
INSERT INTO public.schema_version VALUES (17);
INSERT INTO public.schema_version VALUES (18);
INSERT INTO public.segments VALUES (16777216, 0, 40, NULL, '', 'Lease
Tenant: Ilse Brandt
Rent: 840 EUR');
INSERT INTO public.shares VALUES ('table', 'sales', 'ujpmcbkpyd', false);
INSERT INTO public.summaries VALUES (16777216, 0, 0, 'Lease Tenant: Ilse Brandt Rent: 840 EUR');
INSERT INTO public.table_ids VALUES ('sales');
INSERT INTO public.table_ids VALUES ('towns');
INSERT INTO public.table_ids VALUES ('what-does-the-lagoon-plan-of-parrotfish');
INSERT INTO public.tables VALUES (2, 'towns', 'towns', 'Company', '2026-11-18T21:31:56.235789Z', 1, 1, 1, 0, '[]');
INSERT INTO public.tables VALUES (3, 'what-does-the-lagoon-plan-of-parrotfish', 'What does the Lagoon plan of Parrotfish Cloud cost', 'Statement', '2026-11-18T21:32:17.514950Z', 3, 3, 2, 3, '[]');
INSERT INTO public.tables VALUES (1, 'sales', 'sales', 'Item', '2026-11-18T21:31:51.024157Z', 3, 4, 4, 6, '[]');
INSERT INTO public.texts VALUES ('06fec15942e405aaf566ea3006319d01ad462d5f9f0e97eba9c3d79646762f77', '\x789cf3494d2c4ee5e20a49cd4bcc2bb152f0cc294e55702a4acc4b29e10a4a058958981828b8860671010015ee0c7a');
INSERT INTO public.tokens VALUES ('kek8tfmzjg', 'ujpmcbkpyd', '', '9f94bada8c51b52c02887343a38683a053ac7720889f8a18c856a7553dcd33ea', 'read write run admin', '2026-11-18T21:32:23.114162Z', '2027-02-16T21:32:23Z', '');
INSERT INTO public.turn_documents VALUES ('doc_fah4xgya5', 'cjty8h3vuu', 1);
INSERT INTO public.turns VALUES ('cjty8h3vuu', 1, '{"question":"Who is the tenant?","answer":"Without a model this cannot be answered. Not understood: “Who”. 1 passage matches the question''s words.","route":"passages","reason":"Who is the tenant?","attempts":["search_text + search_vector(segment)(Who is the tenant?): 1"],"documents":["doc_fah4xgya5"],"segments":[16777216],"completeness":"incomplete","plan":"{\"question\":\"Who is the tenant?\",\"language\":\"\",\"action\":\"text\",\"say\":\"\",\"path\":\"\",\"queries\":[\"Who is the tenant?\"],\"of\":[],\"columns\":[],\"conditions\":[],\"aggregate\":\"\",\"aggregate_column\":\"\",\"group_by\":\"\",\"period\":\"\",\"order_by\":\"\",\"descending\":false,\"limit\":0,\"unit_column\":\"\",\"sentence\":\"\",\"compare\":false}","at":"2026-11-18T21:32:08.218553Z"}');
INSERT INTO public.users VALUES ('ujpmcbkpyd', 'bob', 'editor', '2026-11-18T21:32:23.111145Z');
INSERT INTO public.words VALUES (1, '\x020000000ce442ab0100000062c4594e01000000902d03b80100000097d1c6e001000000cc4d78020100000061aeca48010000007a4d1e5d', '\x08000000');
SELECT pg_catalog.setval('public.audit_no_seq', 2, true);
SELECT pg_catalog.setval('public.documents_no_seq', 1, true);
SELECT pg_catalog.setval('public.tables_no_seq', 3, true);
ALTER TABLE ONLY public.annotations
    ADD CONSTRAINT annotations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT attempts_pkey PRIMARY KEY (run_id, row_id, number);
ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (no);
ALTER TABLE ONLY public.cache_documents
    ADD CONSTRAINT cache_documents_pkey PRIMARY KEY (document_id, kind, key);
ALTER TABLE ONLY public.cache
    ADD CONSTRAINT cache_pkey PRIMARY KEY (kind, key);
ALTER TABLE ONLY public.cells
    ADD CONSTRAINT cells_pkey PRIMARY KEY (table_no, row_id, field_id);
ALTER TABLE ONLY public.changes
    ADD CONSTRAINT changes_pkey PRIMARY KEY (table_no, change);
ALTER TABLE ONLY public.conversations
    ADD CONSTRAINT conversations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.document_texts
    ADD CONSTRAINT document_texts_pkey PRIMARY KEY (document_id, content_hash);
ALTER TABLE ONLY public.documents
    ADD CONSTRAINT documents_id_key UNIQUE (id);
ALTER TABLE ONLY public.documents
    ADD CONSTRAINT documents_path_key UNIQUE (path);
ALTER TABLE ONLY public.documents
    ADD CONSTRAINT documents_pkey PRIMARY KEY (no);
ALTER TABLE ONLY public.edits
    ADD CONSTRAINT edits_pkey PRIMARY KEY (table_no, seq);
ALTER TABLE ONLY public.fields
    ADD CONSTRAINT fields_pkey PRIMARY KEY (table_no, field_id);
ALTER TABLE ONLY public.identities
    ADD CONSTRAINT identities_pkey PRIMARY KEY (issuer, subject);
ALTER TABLE ONLY public.imports
    ADD CONSTRAINT imports_pkey PRIMARY KEY (table_no);
ALTER TABLE ONLY public.kind_rows
    ADD CONSTRAINT kind_rows_pkey PRIMARY KEY (table_no, document_id);
ALTER TABLE ONLY public.kind_tables
    ADD CONSTRAINT kind_tables_pkey PRIMARY KEY (owner, kind);
ALTER TABLE ONLY public.limits
    ADD CONSTRAINT limits_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.listings
    ADD CONSTRAINT listings_pkey PRIMARY KEY (table_no);
ALTER TABLE ONLY public.operations
    ADD CONSTRAINT operations_pkey PRIMARY KEY (proposal_id, row_id, field);
ALTER TABLE ONLY public.pages
    ADD CONSTRAINT pages_pkey PRIMARY KEY (url, content_hash);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT people_name_key UNIQUE (name);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT people_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.properties
    ADD CONSTRAINT properties_pkey PRIMARY KEY (annotation_id, "position");
ALTER TABLE ONLY public.proposals
    ADD CONSTRAINT proposals_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.quotas
    ADD CONSTRAINT quotas_pkey PRIMARY KEY (user_id, what);
ALTER TABLE ONLY public.requests
    ADD CONSTRAINT requests_pkey PRIMARY KEY (actor, key);
ALTER TABLE ONLY public.research_documents
    ADD CONSTRAINT research_documents_pkey PRIMARY KEY (document_id, research_id);
ALTER TABLE ONLY public.research_rounds
    ADD CONSTRAINT research_rounds_pkey PRIMARY KEY (research_id, number);
ALTER TABLE ONLY public.researches
    ADD CONSTRAINT researches_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.result_rows
    ADD CONSTRAINT result_rows_pkey PRIMARY KEY (result_id, "position");
ALTER TABLE ONLY public.results
    ADD CONSTRAINT results_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.rows
    ADD CONSTRAINT rows_pkey PRIMARY KEY (table_no, row_id);
ALTER TABLE ONLY public.run_events
    ADD CONSTRAINT run_events_pkey PRIMARY KEY (run_id, number);
ALTER TABLE ONLY public.run_slices
    ADD CONSTRAINT run_slices_pkey PRIMARY KEY (run_id, number);
ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.scheduled
    ADD CONSTRAINT scheduled_pkey PRIMARY KEY (table_id);
ALTER TABLE ONLY public.segments
    ADD CONSTRAINT segments_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.shares
    ADD CONSTRAINT shares_pkey PRIMARY KEY (kind, thing_id, user_id);
ALTER TABLE ONLY public.shortlists
    ADD CONSTRAINT shortlists_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.spent
    ADD CONSTRAINT spent_pkey PRIMARY KEY (user_id, month, what);
ALTER TABLE ONLY public.summaries
    ADD CONSTRAINT summaries_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.table_ids
    ADD CONSTRAINT table_ids_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.tables
    ADD CONSTRAINT tables_id_key UNIQUE (id);
ALTER TABLE ONLY public.tables
    ADD CONSTRAINT tables_pkey PRIMARY KEY (no);
ALTER TABLE ONLY public.texts
    ADD CONSTRAINT texts_pkey PRIMARY KEY (content_hash);
ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_hash_key UNIQUE (hash);
ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.turn_documents
    ADD CONSTRAINT turn_documents_pkey PRIMARY KEY (document_id, conversation_id, number);
ALTER TABLE ONLY public.turns
    ADD CONSTRAINT turns_pkey PRIMARY KEY (conversation_id, number);
ALTER TABLE ONLY public.vectors
    ADD CONSTRAINT vectors_pkey PRIMARY KEY (document_no, target);
ALTER TABLE ONLY public.views
    ADD CONSTRAINT views_pkey PRIMARY KEY (table_no, name, person);
ALTER TABLE ONLY public.words
    ADD CONSTRAINT words_pkey PRIMARY KEY (document_no);
ALTER TABLE ONLY public.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (id);
CREATE INDEX document_texts_by_hash ON public.document_texts USING btree (content_hash);
CREATE INDEX documents_by_name ON public.documents USING btree (name);
CREATE INDEX edits_by_cell ON public.edits USING btree (table_no, row_id, field_id, seq);
CREATE INDEX imports_by_path ON public.imports USING btree (path);
CREATE INDEX kind_rows_by_document ON public.kind_rows USING btree (document_id);
CREATE INDEX properties_by_label ON public.properties USING btree (label, context);
CREATE INDEX proposals_by_table ON public.proposals USING btree (table_no, created_at);
CREATE INDEX result_rows_by_document ON public.result_rows USING btree (document_id);
CREATE INDEX runs_by_status ON public.runs USING btree (status, started_at);
CREATE INDEX runs_by_table ON public.runs USING btree (table_no, started_at);
CREATE INDEX shares_by_user ON public.shares USING btree (user_id, kind, thing_id);
CREATE INDEX tokens_by_user ON public.tokens USING btree (user_id);
CREATE TRIGGER audit_no_change BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit FOR EACH STATEMENT EXECUTE FUNCTION public.audit_is_append_only();
