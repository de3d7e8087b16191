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
CREATE TABLE public.grants (
    user_id text NOT NULL,
    table_id text NOT NULL
);
CREATE TABLE public.imports (
    table_no integer NOT NULL,
    path text NOT NULL,
    content_hash text NOT NULL,
    reading text NOT NULL,
    at text NOT NULL
);
CREATE TABLE public.limits (
    key text NOT NULL,
    free_at double precision NOT NULL
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
    usage text NOT NULL
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
    last_event bigint DEFAULT 0 NOT NULL
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
CREATE TABLE public.shortlists (
    id text NOT NULL,
    table_id text NOT NULL,
    state text NOT NULL,
    created_at text NOT NULL,
    updated_at text NOT NULL
);
CREATE TABLE public.summaries (
    id bigint NOT NULL,
    first integer NOT NULL,
    last integer NOT NULL,
    text text NOT NULL
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
    last_seq bigint NOT NULL
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
    id text NOT NULL,
    name text NOT NULL,
    role text NOT NULL,
    token_hash text NOT NULL,
    created_at text NOT NULL
);
CREATE TABLE public.vectors (
    document_no integer NOT NULL,
    target text NOT NULL,
    embedder text NOT NULL,
    dimensions integer NOT NULL,
    matrix bytea NOT NULL
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
ALTER TABLE ONLY public.documents ALTER COLUMN no SET DEFAULT nextval('public.documents_no_seq'::regclass);
ALTER TABLE ONLY public.tables ALTER COLUMN no SET DEFAULT nextval('public.tables_no_seq'::regclass);
INSERT INTO public.annotations VALUES (16777216, 'fact', 7, 26, NULL, 'pairs', 0);
INSERT INTO public.annotations VALUES (16777217, 'fact', 27, 40, NULL, 'pairs', 0);
INSERT INTO public.attempts VALUES ('rz4f6pwjks', 1, 1, '{"number":1,"columns":["Founded"],"patterns":["%entity Founded year","%entity","%entity Founded year profile"],"queries":["Kestrelworks Founded year","Kestrelworks","Kestrelworks Founded year profile"],"urls":["http://www.candlewickpedia.example/wiki/Kestrelworks","http://www.kestrelworks.example/about-kestrelworks","http://www.kestrelworks.example/blog/ten-years","http://www.kestrelworks.example/","http://www.ledgerline.example/b/kestrelworks-software-ltd","http://www.merrincourier.example/business/kestrelworks-schools","http://www.merrincourier.example/","http://www.ledgerline.example/"],"confidences":{"Founded":0.0},"assessment":{"weak":[{"name":"Founded","weakness":"missing","reason":"nothing found. Read without finding it: 9 pages of candlewickpedia.example, kestrelworks.example, ledgerline.example, merrincourier.example.","hint":"If no result was about the row, try other forms of its name, or what tells it apart; else look for the kind of page that states it, under another name of the column.","confidence":0.0}]}}');
INSERT INTO public.attempts VALUES ('rz4f6pwjks', 1, 2, '{"number":2,"columns":["Founded"],"patterns":["%entity Founded facts"],"queries":["Kestrelworks Founded facts"],"confidences":{"Founded":0.0},"assessment":{"weak":[{"name":"Founded","weakness":"missing","reason":"nothing found. Read without finding it: 9 pages of candlewickpedia.example, kestrelworks.example, ledgerline.example, merrincourier.example.","hint":"If no result was about the row, try other forms of its name, or what tells it apart; else look for the kind of page that states it, under another name of the column.","confidence":0.0}]}}');
INSERT INTO public.attempts VALUES ('r4zkcxbu7k', 1, 1, '{"number":1,"columns":["Answer"],"queries":["Lagoon plan of Parrotfish Cloud cost","What does the Lagoon plan of Parrotfish Cloud cost","Lagoon Parrotfish Cloud","Lagoon plan of Parrotfish Cloud cost facts","Lagoon Parrotfish Cloud history"],"results":{"Answer":"$59"},"confidences":{"Answer":0.6},"assessment":{}}');
INSERT INTO public.attempts VALUES ('rcuta2dhnt', 2, 1, '{"number":1,"columns":["Answer"],"queries":["A bill from Parrotfish Cloud"],"confidences":{"Answer":0.0},"assessment":{"weak":[{"name":"Answer","weakness":"missing","reason":"nothing found. Read without finding it: 5 pages of benchquarterly.example, parrotfish.example, kristallhof.example.","hint":"If no result was about the row, try other forms of its name, or what tells it apart; else look for the kind of page that states it, under another name of the column.","confidence":0.0}]}}');
INSERT INTO public.attempts VALUES ('rcuta2dhnt', 3, 1, '{"number":1,"columns":["Answer"],"queries":["This issue Lagoon plan cost"],"confidences":{"Answer":0.0},"assessment":{"weak":[{"name":"Answer","weakness":"missing","reason":"nothing found. Read without finding it: 5 pages of benchquarterly.example, parrotfish.example, kestrelworks.example, oakwellreasoning.example.","hint":"If no result was about the row, try other forms of its name, or what tells it apart; else look for the kind of page that states it, under another name of the column.","confidence":0.0}]}}');
INSERT INTO public.attempts VALUES ('rcuta2dhnt', 4, 1, '{"number":1,"columns":["Answer"],"queries":["80 million Parrotfish Cloud cost"],"confidences":{"Answer":0.0},"assessment":{"weak":[{"name":"Answer","weakness":"missing","reason":"nothing found. Read without finding it: 5 pages of parrotfish.example, benchquarterly.example, steamandsip.example.","hint":"If no result was about the row, try other forms of its name, or what tells it apart; else look for the kind of page that states it, under another name of the column.","confidence":0.0}]}}');
INSERT INTO public.cells VALUES (1, 2, 4, 'ENRICHED', '{"value":8,"raw_value":"8","status":"ENRICHED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(4 * 2, 2) = 8"}],"cost":0.0,"attempt":1,"run_id":"r68795c3rj","updated_at":"2026-11-18T21:27:29.406094Z"}');
INSERT INTO public.cells VALUES (1, 3, 4, 'FAILED', '{"status":"FAILED","reason":"not_applicable","cost":0.0,"attempt":1,"run_id":"r68795c3rj","updated_at":"2026-11-18T21:27:29.406094Z","error":"Price is empty"}');
INSERT INTO public.cells VALUES (3, 1, 3, 'ENRICHED', '{"value":"$59","raw_value":"$59","status":"ENRICHED","confidence":0.6,"basis":"stated","evidence":[{"origin":"http://www.benchquarterly.example/2026/parrotfish-bill","title":"A bill from Parrotfish Cloud - Bench Quarterly","quote":"The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.","start":62,"end":204,"domain":"benchquarterly.example","retrieved_at":"2026-11-18T21:28:15.244024Z","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"}],"cost":0.0,"attempt":1,"run_id":"r4zkcxbu7k","updated_at":"2026-11-18T21:28:15.704862Z"}');
INSERT INTO public.cells VALUES (3, 2, 1, 'ENRICHED', '{"value":"A bill from Parrotfish Cloud","raw_value":"A bill from Parrotfish Cloud","status":"ENRICHED","confidence":0.8,"basis":"stated","evidence":[{"origin":"http://www.benchquarterly.example/2026/parrotfish-bill","title":"A bill from Parrotfish Cloud - Bench Quarterly","quote":"The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.","start":62,"end":204,"domain":"benchquarterly.example","retrieved_at":"2026-11-18T21:28:15.244024Z","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"}],"updated_at":"2026-11-18T21:28:16.907191Z"}');
INSERT INTO public.cells VALUES (3, 3, 1, 'ENRICHED', '{"value":"This issue","raw_value":"This issue","status":"ENRICHED","confidence":0.2597,"basis":"stated","evidence":[{"origin":"http://www.benchquarterly.example/","title":"This issue - Bench Quarterly","quote":"In this issue: AI providers compared, a bill from Parrotfish Cloud, and why our own kettle tests moved to another magazine.","start":249,"end":372,"domain":"benchquarterly.example","retrieved_at":"2026-11-18T21:28:15.342965Z","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"}],"updated_at":"2026-11-18T21:28:16.945402Z"}');
INSERT INTO public.cells VALUES (3, 4, 1, 'ENRICHED', '{"value":"80 million","raw_value":"80 million","status":"ENRICHED","confidence":0.2325,"basis":"stated","evidence":[{"origin":"http://www.parrotfish.example/pricing","title":"Plans and prices · Parrotfish Cloud","quote":"Lagoon | $49 | 80 million | $0.60","start":110,"end":143,"domain":"parrotfish.example","retrieved_at":"2026-11-18T21:28:15.274344Z","content_hash":"3974e220abe70d6ce271e3cae3ae8b5aba06cb83f7bda921ddd769cde32926c5"}],"updated_at":"2026-11-18T21:28:16.984068Z"}');
INSERT INTO public.cells VALUES (3, 2, 3, 'FAILED', '{"status":"FAILED","reason":"not_found","cost":0.0,"attempt":1,"run_id":"rcuta2dhnt","updated_at":"2026-11-18T21:28:17.564131Z","error":"Read without finding it: 5 pages of benchquarterly.example, parrotfish.example, kristallhof.example."}');
INSERT INTO public.cells VALUES (3, 3, 3, 'FAILED', '{"status":"FAILED","reason":"not_found","cost":0.0,"attempt":1,"run_id":"rcuta2dhnt","updated_at":"2026-11-18T21:28:17.564131Z","error":"Read without finding it: 5 pages of benchquarterly.example, parrotfish.example, kestrelworks.example, oakwellreasoning.example."}');
INSERT INTO public.cells VALUES (3, 4, 3, 'FAILED', '{"status":"FAILED","reason":"not_found","cost":0.0,"attempt":1,"run_id":"rcuta2dhnt","updated_at":"2026-11-18T21:28:17.564131Z","error":"Read without finding it: 5 pages of parrotfish.example, benchquarterly.example, steamandsip.example."}');
INSERT INTO public.cells VALUES (1, 1, 4, 'FLAGGED', '{"value":37.5,"raw_value":"37.5","status":"FLAGGED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(12.5 * 3, 2) = 37.5"}],"cost":0.0,"attempt":1,"run_id":"r68795c3rj","updated_at":"2026-11-18T21:27:29.406094Z","error":"flagged: net?"}');
INSERT INTO public.changes VALUES (1, 1, '2026-11-18T21:27:29.291947Z', 'ann', 'create', NULL, 'imported sales.csv', 1, 0);
INSERT INTO public.changes VALUES (1, 2, '2026-11-18T21:27:29.698605Z', 'ann', 'auto_apply', 'r68795c3rj', 'Computation: round({Price} * {Quantity}, 2) — found 2 of 3 rows', 1, 4);
INSERT INTO public.changes VALUES (2, 1, '2026-11-18T21:27:32.868832Z', 'ann', 'create', NULL, 'imported towns.csv', 1, 0);
INSERT INTO public.changes VALUES (3, 1, '2026-11-18T21:28:10.879355Z', 'ann', 'create', NULL, 'deep research', 1, 0);
INSERT INTO public.changes VALUES (3, 2, '2026-11-18T21:28:16.878624Z', 'ann', 'auto_apply', 'r4zkcxbu7k', 'Pages at hand: {Question} — found 1 of 1 rows', 1, 1);
INSERT INTO public.changes VALUES (3, 3, '2026-11-18T21:28:16.943260Z', 'ann', 'edit', NULL, 'found A bill from Parrotfish Cloud', 2, 2);
INSERT INTO public.changes VALUES (3, 4, '2026-11-18T21:28:16.980096Z', 'ann', 'edit', NULL, 'found This issue', 3, 3);
INSERT INTO public.changes VALUES (3, 5, '2026-11-18T21:28:17.060946Z', 'ann', 'edit', NULL, 'found 80 million', 4, 4);
INSERT INTO public.changes VALUES (3, 6, '2026-11-18T21:28:17.743273Z', 'ann', 'auto_apply', 'rcuta2dhnt', 'Pages at hand: {Question} — found 0 of 3 rows', 5, 7);
INSERT INTO public.changes VALUES (1, 3, '2026-11-18T21:28:36.200704Z', 'ann', 'edit', NULL, 'flagged row 1, Total: net?', 5, 5);
INSERT INTO public.conversations VALUES ('cgqjgc9cxn', '2026-11-18T21:28:03.204922Z', 'Asked: Who is the tenant? Answer: Tenant: Ilse Brandt', 1);
INSERT INTO public.corpus VALUES (1);
INSERT INTO public.document_texts VALUES ('doc_d347ctjrx', '06fec15942e405aaf566ea3006319d01ad462d5f9f0e97eba9c3d79646762f77');
INSERT INTO public.documents VALUES (1, 'doc_d347ctjrx', '/home/ann/papers/lease.txt', 'lease.txt', '06fec15942e405aaf566ea3006319d01ad462d5f9f0e97eba9c3d79646762f77', '06fec15942e405aaf566ea3006319d01ad462d5f9f0e97eba9c3d79646762f77', true, 1, 2, 0, '{"id":"doc_d347ctjrx","path":"/home/ann/papers/lease.txt","name":"lease.txt","title":"lease","media":"txt","kind":"contract","categories":["short","data-heavy"],"file_hash":"06fec15942e405aaf566ea3006319d01ad462d5f9f0e97eba9c3d79646762f77","text_hash":"06fec15942e405aaf566ea3006319d01ad462d5f9f0e97eba9c3d79646762f77","size":41,"pages":1,"characters":41,"added_at":"2026-11-18T21:27:58.086451Z"}');
INSERT INTO public.edits VALUES (1, 1, 'add_field', NULL, 4, NULL, NULL);
INSERT INTO public.edits VALUES (1, 2, 'cell', 1, 4, NULL, '{"value":37.5,"raw_value":"37.5","status":"ENRICHED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(12.5 * 3, 2) = 37.5"}],"cost":0.0,"attempt":1,"run_id":"r68795c3rj","updated_at":"2026-11-18T21:27:29.406094Z"}');
INSERT INTO public.edits VALUES (1, 3, 'cell', 2, 4, NULL, '{"value":8,"raw_value":"8","status":"ENRICHED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(4 * 2, 2) = 8"}],"cost":0.0,"attempt":1,"run_id":"r68795c3rj","updated_at":"2026-11-18T21:27:29.406094Z"}');
INSERT INTO public.edits VALUES (1, 4, 'cell', 3, 4, NULL, '{"status":"FAILED","reason":"not_applicable","cost":0.0,"attempt":1,"run_id":"r68795c3rj","updated_at":"2026-11-18T21:27:29.406094Z","error":"Price is empty"}');
INSERT INTO public.edits VALUES (3, 1, 'cell', 1, 3, NULL, '{"value":"$59","raw_value":"$59","status":"ENRICHED","confidence":0.6,"basis":"stated","evidence":[{"origin":"http://www.benchquarterly.example/2026/parrotfish-bill","title":"A bill from Parrotfish Cloud - Bench Quarterly","quote":"The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.","start":62,"end":204,"domain":"benchquarterly.example","retrieved_at":"2026-11-18T21:28:15.244024Z","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"}],"cost":0.0,"attempt":1,"run_id":"r4zkcxbu7k","updated_at":"2026-11-18T21:28:15.704862Z"}');
INSERT INTO public.edits VALUES (3, 2, 'add_row', 2, NULL, NULL, NULL);
INSERT INTO public.edits VALUES (3, 3, 'add_row', 3, NULL, NULL, NULL);
INSERT INTO public.edits VALUES (3, 4, 'add_row', 4, NULL, NULL, NULL);
INSERT INTO public.edits VALUES (3, 5, 'cell', 2, 3, NULL, '{"status":"FAILED","reason":"not_found","cost":0.0,"attempt":1,"run_id":"rcuta2dhnt","updated_at":"2026-11-18T21:28:17.564131Z","error":"Read without finding it: 5 pages of benchquarterly.example, parrotfish.example, kristallhof.example."}');
INSERT INTO public.edits VALUES (3, 6, 'cell', 3, 3, NULL, '{"status":"FAILED","reason":"not_found","cost":0.0,"attempt":1,"run_id":"rcuta2dhnt","updated_at":"2026-11-18T21:28:17.564131Z","error":"Read without finding it: 5 pages of benchquarterly.example, parrotfish.example, kestrelworks.example, oakwellreasoning.example."}');
INSERT INTO public.edits VALUES (3, 7, 'cell', 4, 3, NULL, '{"status":"FAILED","reason":"not_found","cost":0.0,"attempt":1,"run_id":"rcuta2dhnt","updated_at":"2026-11-18T21:28:17.564131Z","error":"Read without finding it: 5 pages of parrotfish.example, benchquarterly.example, steamandsip.example."}');
INSERT INTO public.edits VALUES (1, 5, 'cell', 1, 4, '{"value":37.5,"raw_value":"37.5","status":"ENRICHED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(12.5 * 3, 2) = 37.5"}],"cost":0.0,"attempt":1,"run_id":"r68795c3rj","updated_at":"2026-11-18T21:27:29.406094Z"}', '{"value":37.5,"raw_value":"37.5","status":"FLAGGED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(12.5 * 3, 2) = 37.5"}],"cost":0.0,"attempt":1,"run_id":"r68795c3rj","updated_at":"2026-11-18T21:27:29.406094Z","error":"flagged: net?"}');
INSERT INTO public.fields VALUES (1, 1, 1, '{"name":"Item"}', false);
INSERT INTO public.fields VALUES (1, 2, 2, '{"name":"Price","type":"number"}', false);
INSERT INTO public.fields VALUES (1, 3, 3, '{"name":"Quantity","type":"number"}', false);
INSERT INTO public.fields VALUES (1, 4, 4, '{"name":"Total","type":"number","question":"round({Price} * {Quantity}, 2)","depends_on":["Price","Quantity"]}', false);
INSERT INTO public.fields VALUES (2, 1, 1, '{"name":"Company"}', false);
INSERT INTO public.fields VALUES (3, 1, 1, '{"name":"Angle"}', false);
INSERT INTO public.fields VALUES (3, 2, 2, '{"name":"Question"}', false);
INSERT INTO public.fields VALUES (3, 3, 3, '{"name":"Answer","question":"{Question}","depends_on":["Question"]}', false);
INSERT INTO public.grants VALUES ('uxqef9zy6b', 'sales');
INSERT INTO public.imports VALUES (1, 'vm:/home/ann/sales.csv', '4f40576f86f6c04fe9e15ba9d74c56e3e0007776f30523279b9bfc6afc30e71d', '('''', True, None, None, None)', '2026-11-18T21:27:29.314442Z');
INSERT INTO public.imports VALUES (2, 'vm:/home/ann/towns.csv', '4cd91f690b39cdeb4b5ef7f10a3f599970cb8eeab84f384dbf2c4706f3d804ee', '('''', True, None, None, None)', '2026-11-18T21:27:32.876749Z');
INSERT INTO public.operations VALUES ('p3pwu6c84j', 1, 'Total', 1, 0, 'ENRICHED', 1, '{"value":37.5,"raw_value":"37.5","status":"ENRICHED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(12.5 * 3, 2) = 37.5"}],"cost":0.0,"attempt":1,"run_id":"r68795c3rj","updated_at":"2026-11-18T21:27:29.406094Z"}', 'applied', 2, '[{"type":"compute","detail":"round(12.5 * 3, 2) = 37.5"},{"type":"answer","detail":"37.5"}]', NULL);
INSERT INTO public.operations VALUES ('p3pwu6c84j', 2, 'Total', 1, 0, 'ENRICHED', 1, '{"value":8,"raw_value":"8","status":"ENRICHED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(4 * 2, 2) = 8"}],"cost":0.0,"attempt":1,"run_id":"r68795c3rj","updated_at":"2026-11-18T21:27:29.406094Z"}', 'applied', 2, '[{"type":"compute","detail":"round(4 * 2, 2) = 8"},{"type":"answer","detail":"8"}]', NULL);
INSERT INTO public.operations VALUES ('p3pwu6c84j', 3, 'Total', 1, 0, 'FAILED', 0, '{"status":"FAILED","reason":"not_applicable","cost":0.0,"attempt":1,"run_id":"r68795c3rj","updated_at":"2026-11-18T21:27:29.406094Z","error":"Price is empty"}', 'applied', 2, '[{"type":"error","detail":"Price is empty"}]', NULL);
INSERT INTO public.operations VALUES ('pshfyu2dwr', 1, 'Founded', 2, 0, 'FAILED', 0, '{"status":"FAILED","reason":"not_found","cost":0.0,"attempt":2,"run_id":"rz4f6pwjks","updated_at":"2026-11-18T21:27:43.522409Z","error":"Read without finding it: 9 pages of candlewickpedia.example, kestrelworks.example, ledgerline.example, merrincourier.example."}', 'open', NULL, '[{"type":"search","detail":"Searched “Kestrelworks Founded year”: 10 results.","data":{"query":"Kestrelworks Founded year","results":10,"pattern":"%entity Founded year"}},{"type":"fetch","detail":"Read “Kestrelworks – Candlewick Encyclopedia” (candlewickpedia.example).","data":{"url":"http://www.candlewickpedia.example/wiki/Kestrelworks"}},{"type":"fetch","detail":"Read “About Kestrelworks · Kestrelworks” (kestrelworks.example).","data":{"url":"http://www.kestrelworks.example/about-kestrelworks"}},{"type":"fetch","detail":"Read “About Kestrelworks · Kestrelworks” (kestrelworks.example).","data":{"url":"http://www.kestrelworks.example/about-kestrelworks"}},{"type":"fetch","detail":"Read “Ten years, and a bird on the roof · Kestrelworks” (kestrelworks.example).","data":{"url":"http://www.kestrelworks.example/blog/ten-years"}},{"type":"fetch","detail":"Read “Rotas that people like · Kestrelworks” (kestrelworks.example).","data":{"url":"http://www.kestrelworks.example/"}},{"type":"search","detail":"Searched “Kestrelworks”: 9 results.","data":{"query":"Kestrelworks","results":9,"pattern":"%entity"}},{"type":"search","detail":"Searched “Kestrelworks Founded year profile”: 10 results.","data":{"query":"Kestrelworks Founded year profile","results":10,"pattern":"%entity Founded year profile"}},{"type":"fetch","detail":"Read “Kestrelworks Software Ltd | Ledgerline Business Register” (ledgerline.example).","data":{"url":"http://www.ledgerline.example/b/kestrelworks-software-ltd"}},{"type":"fetch","detail":"Read “Kestrelworks opens its doors to schools - The Merrin Courier” (merrincourier.example).","data":{"url":"http://www.merrincourier.example/business/kestrelworks-schools"}},{"type":"fetch","detail":"Read “The Merrin Courier - The Merrin Courier” (merrincourier.example).","data":{"url":"http://www.merrincourier.example/"}},{"type":"fetch","detail":"Read “All businesses | Ledgerline Business Register” (ledgerline.example).","data":{"url":"http://www.ledgerline.example/"}},{"type":"coverage","detail":"low: 0 of 1 answered; weak or missing: Founded","data":{"rating":"low"}},{"type":"thinking","detail":"Attempt 2, for Founded alone. Founded: nothing found. Read without finding it: 9 pages of candlewickpedia.example, kestrelworks.example, ledgerline.example, merrincourier.example.","data":{"attempt":2}},{"type":"search","detail":"Searched “Kestrelworks Founded facts”: 10 results.","data":{"query":"Kestrelworks Founded facts","results":10,"pattern":"%entity Founded facts"}},{"type":"coverage","detail":"low: 0 of 1 answered; weak or missing: Founded","data":{"rating":"low"}}]', NULL);
INSERT INTO public.operations VALUES ('prahrv3cbk', 1, 'Answer', 1, 0, 'ENRICHED', 0.6, '{"value":"$59","raw_value":"$59","status":"ENRICHED","confidence":0.6,"basis":"stated","evidence":[{"origin":"http://www.benchquarterly.example/2026/parrotfish-bill","title":"A bill from Parrotfish Cloud - Bench Quarterly","quote":"The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.","start":62,"end":204,"domain":"benchquarterly.example","retrieved_at":"2026-11-18T21:28:15.244024Z","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"}],"cost":0.0,"attempt":1,"run_id":"r4zkcxbu7k","updated_at":"2026-11-18T21:28:15.704862Z"}', 'applied', 2, '[{"type":"search","detail":"Searched “Lagoon plan of Parrotfish Cloud cost”: 10 results.","data":{"query":"Lagoon plan of Parrotfish Cloud cost","results":10}},{"type":"search","detail":"Searched “What does the Lagoon plan of Parrotfish Cloud cost”: 10 results.","data":{"query":"What does the Lagoon plan of Parrotfish Cloud cost","results":10}},{"type":"search","detail":"Searched “Lagoon Parrotfish Cloud”: 5 results.","data":{"query":"Lagoon Parrotfish Cloud","results":5}},{"type":"search","detail":"Searched “Lagoon plan of Parrotfish Cloud cost facts”: 10 results.","data":{"query":"Lagoon plan of Parrotfish Cloud cost facts","results":10}},{"type":"search","detail":"Searched “Lagoon Parrotfish Cloud history”: 8 results.","data":{"query":"Lagoon Parrotfish Cloud history","results":8}},{"type":"answer","detail":"$59 — benchquarterly.example: “The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.”"}]', NULL);
INSERT INTO public.operations VALUES ('pegg6tnqfm', 2, 'Answer', 1, 4, 'FAILED', 0, '{"status":"FAILED","reason":"not_found","cost":0.0,"attempt":1,"run_id":"rcuta2dhnt","updated_at":"2026-11-18T21:28:17.564131Z","error":"Read without finding it: 5 pages of benchquarterly.example, parrotfish.example, kristallhof.example."}', 'applied', 6, '[{"type":"search","detail":"Searched “A bill from Parrotfish Cloud”: 10 results.","data":{"query":"A bill from Parrotfish Cloud","results":10}}]', NULL);
INSERT INTO public.operations VALUES ('pegg6tnqfm', 3, 'Answer', 1, 4, 'FAILED', 0, '{"status":"FAILED","reason":"not_found","cost":0.0,"attempt":1,"run_id":"rcuta2dhnt","updated_at":"2026-11-18T21:28:17.564131Z","error":"Read without finding it: 5 pages of benchquarterly.example, parrotfish.example, kestrelworks.example, oakwellreasoning.example."}', 'applied', 6, '[{"type":"search","detail":"Searched “This issue Lagoon plan cost”: 10 results.","data":{"query":"This issue Lagoon plan cost","results":10}}]', NULL);
INSERT INTO public.operations VALUES ('pegg6tnqfm', 4, 'Answer', 1, 4, 'FAILED', 0, '{"status":"FAILED","reason":"not_found","cost":0.0,"attempt":1,"run_id":"rcuta2dhnt","updated_at":"2026-11-18T21:28:17.564131Z","error":"Read without finding it: 5 pages of parrotfish.example, benchquarterly.example, steamandsip.example."}', 'applied', 6, '[{"type":"search","detail":"Searched “80 million Parrotfish Cloud cost”: 10 results.","data":{"query":"80 million Parrotfish Cloud cost","results":10}}]', NULL);
INSERT INTO public.properties VALUES (16777216, 0, 'Tenant', '', 15, 26, 'Ilse Brandt', NULL, NULL, '', NULL, NULL, '', '', '', NULL, '');
INSERT INTO public.properties VALUES (16777217, 0, 'Rent', '', 33, 40, '840 EUR', 840, NULL, '', NULL, NULL, '', '', 'EUR', NULL, '');
INSERT INTO public.proposals VALUES ('p3pwu6c84j', 1, 'r68795c3rj', 'applied', 'Computation: round({Price} * {Quantity}, 2) — found 2 of 3 rows', '[{"name":"Total","type":"number","question":"round({Price} * {Quantity}, 2)","depends_on":["Price","Quantity"]}]', '2026-11-18T21:27:29.479343Z', '2026-11-18T21:27:29.710349Z');
INSERT INTO public.proposals VALUES ('pshfyu2dwr', 2, 'rz4f6pwjks', 'open', 'Web pipeline: What year was {Company} founded? — found 0 of 1 rows', '[{"name":"Founded","type":"number","question":"What year was {Company} founded?","depends_on":["Company"]}]', '2026-11-18T21:27:39.886465Z', NULL);
INSERT INTO public.proposals VALUES ('prahrv3cbk', 3, 'r4zkcxbu7k', 'applied', 'Pages at hand: {Question} — found 1 of 1 rows', '[{"name":"Answer","question":"{Question}","depends_on":["Question"]}]', '2026-11-18T21:28:15.844701Z', '2026-11-18T21:28:16.886197Z');
INSERT INTO public.proposals VALUES ('pegg6tnqfm', 3, 'rcuta2dhnt', 'applied', 'Pages at hand: {Question} — found 0 of 3 rows', '[{"name":"Answer","question":"{Question}","depends_on":["Question"]}]', '2026-11-18T21:28:17.583554Z', '2026-11-18T21:28:17.765241Z');
INSERT INTO public.research_rounds VALUES ('dxq9kfkqas', 1, '{"index":1,"tasks":[{"id":"r1_1","kind":"discover","search_query":"Lagoon plan of Parrotfish Cloud cost","instructions":"Find what answers: What does the Lagoon plan of Parrotfish Cloud cost?","target_gap":"What does the Lagoon plan of Parrotfish Cloud cost?"},{"id":"r1_2","kind":"discover","search_query":"What does the Lagoon plan of Parrotfish Cloud cost","instructions":"Find what answers: What does the Lagoon plan of Parrotfish Cloud cost?","target_gap":"What does the Lagoon plan of Parrotfish Cloud cost?"},{"id":"r1_3","kind":"discover","search_query":"Lagoon Parrotfish Cloud","instructions":"Find what answers: What does the Lagoon plan of Parrotfish Cloud cost?","target_gap":"What does the Lagoon plan of Parrotfish Cloud cost?"},{"id":"r1_4","kind":"discover","search_query":"Lagoon plan of Parrotfish Cloud cost facts","instructions":"Find what answers: What does the Lagoon plan of Parrotfish Cloud cost?","target_gap":"What does the Lagoon plan of Parrotfish Cloud cost?"},{"id":"r1_5","kind":"discover","search_query":"Lagoon Parrotfish Cloud history","instructions":"Find what answers: What does the Lagoon plan of Parrotfish Cloud cost?","target_gap":"What does the Lagoon plan of Parrotfish Cloud cost?"}],"notes":[{"task":{"id":"r1_1","kind":"discover","search_query":"Lagoon plan of Parrotfish Cloud cost","instructions":"Find what answers: What does the Lagoon plan of Parrotfish Cloud cost?","target_gap":"What does the Lagoon plan of Parrotfish Cloud cost?"},"sources":[{"url":"http://www.benchquarterly.example/2026/parrotfish-bill","domain":"benchquarterly.example","title":"A bill from Parrotfish Cloud - Bench Quarterly","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"},{"url":"http://www.parrotfish.example/pricing","domain":"parrotfish.example","title":"Plans and prices · Parrotfish Cloud","content_hash":"3974e220abe70d6ce271e3cae3ae8b5aba06cb83f7bda921ddd769cde32926c5"},{"url":"http://www.parrotfish.example/","domain":"parrotfish.example","title":"One endpoint, every model · Parrotfish Cloud","content_hash":"3dd07e54eec02aeb139fb58c62fd840a33bf027a622e2258b70cae110c8758de"},{"url":"http://www.benchquarterly.example/","domain":"benchquarterly.example","title":"This issue - Bench Quarterly","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"},{"url":"http://www.oakwellreasoning.example/fees","domain":"oakwellreasoning.example","title":"What we charge | Oakwell Reasoning","content_hash":"77bc5d9dd7bde001647337d2a2bac2862712b16bc3b97f1cbdc64337911fd4f4"}],"steps":[{"type":"search","detail":"Searched “Lagoon plan of Parrotfish Cloud cost”: 10 results.","data":{"query":"Lagoon plan of Parrotfish Cloud cost","results":10}},{"type":"fetch","detail":"Read “A bill from Parrotfish Cloud - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/2026/parrotfish-bill"}},{"type":"fetch","detail":"Read “Plans and prices · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/pricing"}},{"type":"fetch","detail":"Read “One endpoint, every model · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/"}},{"type":"fetch","detail":"Read “This issue - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/"}},{"type":"fetch","detail":"Read “What we charge | Oakwell Reasoning” (oakwellreasoning.example).","data":{"url":"http://www.oakwellreasoning.example/fees"}}]},{"task":{"id":"r1_2","kind":"discover","search_query":"What does the Lagoon plan of Parrotfish Cloud cost","instructions":"Find what answers: What does the Lagoon plan of Parrotfish Cloud cost?","target_gap":"What does the Lagoon plan of Parrotfish Cloud cost?"},"sources":[{"url":"http://www.benchquarterly.example/2026/parrotfish-bill","domain":"benchquarterly.example","title":"A bill from Parrotfish Cloud - Bench Quarterly","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"},{"url":"http://www.parrotfish.example/pricing","domain":"parrotfish.example","title":"Plans and prices · Parrotfish Cloud","content_hash":"3974e220abe70d6ce271e3cae3ae8b5aba06cb83f7bda921ddd769cde32926c5"},{"url":"http://www.parrotfish.example/","domain":"parrotfish.example","title":"One endpoint, every model · Parrotfish Cloud","content_hash":"3dd07e54eec02aeb139fb58c62fd840a33bf027a622e2258b70cae110c8758de"},{"url":"http://www.oakwellreasoning.example/fees","domain":"oakwellreasoning.example","title":"What we charge | Oakwell Reasoning","content_hash":"77bc5d9dd7bde001647337d2a2bac2862712b16bc3b97f1cbdc64337911fd4f4"},{"url":"http://www.benchquarterly.example/","domain":"benchquarterly.example","title":"This issue - Bench Quarterly","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"}],"steps":[{"type":"search","detail":"Searched “What does the Lagoon plan of Parrotfish Cloud cost”: 10 results.","data":{"query":"What does the Lagoon plan of Parrotfish Cloud cost","results":10}},{"type":"fetch","detail":"Read “A bill from Parrotfish Cloud - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/2026/parrotfish-bill"}},{"type":"fetch","detail":"Read “Plans and prices · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/pricing"}},{"type":"fetch","detail":"Read “One endpoint, every model · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/"}},{"type":"fetch","detail":"Read “What we charge | Oakwell Reasoning” (oakwellreasoning.example).","data":{"url":"http://www.oakwellreasoning.example/fees"}},{"type":"fetch","detail":"Read “This issue - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/"}}]},{"task":{"id":"r1_3","kind":"discover","search_query":"Lagoon Parrotfish Cloud","instructions":"Find what answers: What does the Lagoon plan of Parrotfish Cloud cost?","target_gap":"What does the Lagoon plan of Parrotfish Cloud cost?"},"sources":[{"url":"http://www.benchquarterly.example/2026/parrotfish-bill","domain":"benchquarterly.example","title":"A bill from Parrotfish Cloud - Bench Quarterly","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"},{"url":"http://www.parrotfish.example/pricing","domain":"parrotfish.example","title":"Plans and prices · Parrotfish Cloud","content_hash":"3974e220abe70d6ce271e3cae3ae8b5aba06cb83f7bda921ddd769cde32926c5"},{"url":"http://www.parrotfish.example/","domain":"parrotfish.example","title":"One endpoint, every model · Parrotfish Cloud","content_hash":"3dd07e54eec02aeb139fb58c62fd840a33bf027a622e2258b70cae110c8758de"},{"url":"http://www.benchquarterly.example/","domain":"benchquarterly.example","title":"This issue - Bench Quarterly","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"},{"url":"http://www.parrotfish.example/customers/tarrow-lake-cycles","domain":"parrotfish.example","title":"Tarrow Lake Cycles answers the phone again · Parrotfish Cloud","content_hash":"4b4ef4a006fe6432fe4ae58e8d75495cd8626a8b2de3ff416380807f1a69f621"}],"steps":[{"type":"search","detail":"Searched “Lagoon Parrotfish Cloud”: 5 results.","data":{"query":"Lagoon Parrotfish Cloud","results":5}},{"type":"fetch","detail":"Read “A bill from Parrotfish Cloud - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/2026/parrotfish-bill"}},{"type":"fetch","detail":"Read “Plans and prices · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/pricing"}},{"type":"fetch","detail":"Read “One endpoint, every model · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/"}},{"type":"fetch","detail":"Read “This issue - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/"}},{"type":"fetch","detail":"Read “Tarrow Lake Cycles answers the phone again · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/customers/tarrow-lake-cycles"}}]},{"task":{"id":"r1_4","kind":"discover","search_query":"Lagoon plan of Parrotfish Cloud cost facts","instructions":"Find what answers: What does the Lagoon plan of Parrotfish Cloud cost?","target_gap":"What does the Lagoon plan of Parrotfish Cloud cost?"},"sources":[{"url":"http://www.benchquarterly.example/2026/parrotfish-bill","domain":"benchquarterly.example","title":"A bill from Parrotfish Cloud - Bench Quarterly","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"},{"url":"http://www.parrotfish.example/pricing","domain":"parrotfish.example","title":"Plans and prices · Parrotfish Cloud","content_hash":"3974e220abe70d6ce271e3cae3ae8b5aba06cb83f7bda921ddd769cde32926c5"},{"url":"http://www.parrotfish.example/","domain":"parrotfish.example","title":"One endpoint, every model · Parrotfish Cloud","content_hash":"3dd07e54eec02aeb139fb58c62fd840a33bf027a622e2258b70cae110c8758de"},{"url":"http://www.benchquarterly.example/","domain":"benchquarterly.example","title":"This issue - Bench Quarterly","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"},{"url":"http://www.zwaluwmolen.example/feiten-en-cijfers","domain":"zwaluwmolen.example","status":"blocked","detail":"the site refuses to show it (403)"}],"steps":[{"type":"search","detail":"Searched “Lagoon plan of Parrotfish Cloud cost facts”: 10 results.","data":{"query":"Lagoon plan of Parrotfish Cloud cost facts","results":10}},{"type":"fetch","detail":"Read “A bill from Parrotfish Cloud - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/2026/parrotfish-bill"}},{"type":"fetch","detail":"Read “Plans and prices · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/pricing"}},{"type":"fetch","detail":"Read “One endpoint, every model · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/"}},{"type":"fetch","detail":"Read “This issue - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/"}},{"type":"error","detail":"Could not read http://www.zwaluwmolen.example/feiten-en-cijfers: the site refuses to show it (403)","data":{"url":"http://www.zwaluwmolen.example/feiten-en-cijfers","reason":"blocked"}}]},{"task":{"id":"r1_5","kind":"discover","search_query":"Lagoon Parrotfish Cloud history","instructions":"Find what answers: What does the Lagoon plan of Parrotfish Cloud cost?","target_gap":"What does the Lagoon plan of Parrotfish Cloud cost?"},"sources":[{"url":"http://www.benchquarterly.example/2026/parrotfish-bill","domain":"benchquarterly.example","title":"A bill from Parrotfish Cloud - Bench Quarterly","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"},{"url":"http://www.parrotfish.example/pricing","domain":"parrotfish.example","title":"Plans and prices · Parrotfish Cloud","content_hash":"3974e220abe70d6ce271e3cae3ae8b5aba06cb83f7bda921ddd769cde32926c5"},{"url":"http://www.parrotfish.example/","domain":"parrotfish.example","title":"One endpoint, every model · Parrotfish Cloud","content_hash":"3dd07e54eec02aeb139fb58c62fd840a33bf027a622e2258b70cae110c8758de"},{"url":"http://www.benchquarterly.example/","domain":"benchquarterly.example","title":"This issue - Bench Quarterly","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"},{"url":"http://www.haldenrourke.example/company/history","domain":"haldenrourke.example","title":"Halden & Rourke Logistics – A history on wheels","content_hash":"4fb938034bc6dfb4ffb88ba05d32642a5a74584c37ec3c137832e1e1c4c938db"}],"steps":[{"type":"search","detail":"Searched “Lagoon Parrotfish Cloud history”: 8 results.","data":{"query":"Lagoon Parrotfish Cloud history","results":8}},{"type":"fetch","detail":"Read “A bill from Parrotfish Cloud - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/2026/parrotfish-bill"}},{"type":"fetch","detail":"Read “Plans and prices · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/pricing"}},{"type":"fetch","detail":"Read “One endpoint, every model · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/"}},{"type":"fetch","detail":"Read “This issue - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/"}},{"type":"fetch","detail":"Read “Halden & Rourke Logistics – A history on wheels” (haldenrourke.example).","data":{"url":"http://www.haldenrourke.example/company/history"}}]}],"memo":{"query":"What does the Lagoon plan of Parrotfish Cloud cost?","report_type":"narrative","round_index":1,"tasks_completed":5,"tasks_remaining":10,"unique_citations":1,"unique_domains":1,"pages_extracted":7,"themes_covered":["What does the Lagoon plan of Parrotfish Cloud cost?: $59"],"sources_summary":[{"url":"http://www.benchquarterly.example/2026/parrotfish-bill","domain":"benchquarterly.example","title":"A bill from Parrotfish Cloud - Bench Quarterly","has_evidence":true},{"url":"http://www.parrotfish.example/pricing","domain":"parrotfish.example","title":"Plans and prices · Parrotfish Cloud","relevance":"pricing"},{"url":"http://www.oakwellreasoning.example/fees","domain":"oakwellreasoning.example","title":"What we charge | Oakwell Reasoning","relevance":"pricing"},{"url":"http://www.haldenrourke.example/company/history","domain":"haldenrourke.example","title":"Halden & Rourke Logistics – A history on wheels","relevance":"overview"},{"url":"http://www.parrotfish.example/","domain":"parrotfish.example","title":"One endpoint, every model · Parrotfish Cloud","relevance":"overview"},{"url":"http://www.benchquarterly.example/","domain":"benchquarterly.example","title":"This issue - Bench Quarterly","relevance":"overview"},{"url":"http://www.parrotfish.example/customers/tarrow-lake-cycles","domain":"parrotfish.example","title":"Tarrow Lake Cycles answers the phone again · Parrotfish Cloud","relevance":"case_study"}],"gaps":[{"gap_type":"missing_topic","description":"What the question means may be A bill from Parrotfish Cloud","priority":1,"missing_topic":"A bill from Parrotfish Cloud","suggested_query":"A bill from Parrotfish Cloud"},{"gap_type":"missing_topic","description":"What the question means may be This issue","priority":1,"missing_topic":"This issue","suggested_query":"This issue Lagoon plan cost"},{"gap_type":"missing_topic","description":"What the question means may be 80 million","priority":1,"missing_topic":"80 million","suggested_query":"80 million Parrotfish Cloud cost"},{"gap_type":"weak_evidence","description":"What does the Lagoon plan of Parrotfish Cloud cost?: all of it comes from one domain","priority":3,"missing_topic":"What does the Lagoon plan of Parrotfish Cloud cost?","suggested_query":"Lagoon plan of Parrotfish Cloud cost explained"}]},"usage":{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":5,"fetches":8,"cache_hits":4,"cost_usd":0.0,"seconds":3.967}}');
INSERT INTO public.research_rounds VALUES ('dxq9kfkqas', 2, '{"index":2,"tasks":[{"id":"r2_1","kind":"fill","search_query":"A bill from Parrotfish Cloud","instructions":"Find: What the question means may be A bill from Parrotfish Cloud","target_gap":"What the question means may be A bill from Parrotfish Cloud"},{"id":"r2_2","kind":"fill","search_query":"This issue Lagoon plan cost","instructions":"Find: What the question means may be This issue","target_gap":"What the question means may be This issue"},{"id":"r2_3","kind":"fill","search_query":"80 million Parrotfish Cloud cost","instructions":"Find: What the question means may be 80 million","target_gap":"What the question means may be 80 million"},{"id":"r2_4","kind":"fill","search_query":"Lagoon plan of Parrotfish Cloud cost explained","instructions":"Find what answers: What does the Lagoon plan of Parrotfish Cloud cost?","target_gap":"What does the Lagoon plan of Parrotfish Cloud cost?: all of it comes from one domain"}],"notes":[{"task":{"id":"r2_1","kind":"fill","search_query":"A bill from Parrotfish Cloud","instructions":"Find: What the question means may be A bill from Parrotfish Cloud","target_gap":"What the question means may be A bill from Parrotfish Cloud"},"sources":[{"url":"http://www.benchquarterly.example/2026/parrotfish-bill","domain":"benchquarterly.example","title":"A bill from Parrotfish Cloud - Bench Quarterly","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"},{"url":"http://www.benchquarterly.example/","domain":"benchquarterly.example","title":"This issue - Bench Quarterly","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"},{"url":"http://www.parrotfish.example/","domain":"parrotfish.example","title":"One endpoint, every model · Parrotfish Cloud","content_hash":"3dd07e54eec02aeb139fb58c62fd840a33bf027a622e2258b70cae110c8758de"},{"url":"http://www.parrotfish.example/pricing","domain":"parrotfish.example","title":"Plans and prices · Parrotfish Cloud","content_hash":"3974e220abe70d6ce271e3cae3ae8b5aba06cb83f7bda921ddd769cde32926c5"},{"url":"http://www.kristallhof.example/","domain":"kristallhof.example","title":"Lenses from Sankt Orlen | Kristallhof Optik","content_hash":"5bd5e011fb29b71a3b9aea8d8446e12962cc4de10714cdd2c8c24b7eff5993a5"}],"steps":[{"type":"search","detail":"Searched “A bill from Parrotfish Cloud”: 10 results.","data":{"query":"A bill from Parrotfish Cloud","results":10}},{"type":"fetch","detail":"Read “A bill from Parrotfish Cloud - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/2026/parrotfish-bill"}},{"type":"fetch","detail":"Read “This issue - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/"}},{"type":"fetch","detail":"Read “One endpoint, every model · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/"}},{"type":"fetch","detail":"Read “Plans and prices · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/pricing"}},{"type":"fetch","detail":"Read “Lenses from Sankt Orlen | Kristallhof Optik” (kristallhof.example).","data":{"url":"http://www.kristallhof.example/"}}]},{"task":{"id":"r2_2","kind":"fill","search_query":"This issue Lagoon plan cost","instructions":"Find: What the question means may be This issue","target_gap":"What the question means may be This issue"},"sources":[{"url":"http://www.benchquarterly.example/","domain":"benchquarterly.example","title":"This issue - Bench Quarterly","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"},{"url":"http://www.benchquarterly.example/2026/parrotfish-bill","domain":"benchquarterly.example","title":"A bill from Parrotfish Cloud - Bench Quarterly","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"},{"url":"http://www.parrotfish.example/pricing","domain":"parrotfish.example","title":"Plans and prices · Parrotfish Cloud","content_hash":"3974e220abe70d6ce271e3cae3ae8b5aba06cb83f7bda921ddd769cde32926c5"},{"url":"http://www.kestrelworks.example/","domain":"kestrelworks.example","title":"Rotas that people like · Kestrelworks","content_hash":"97048a128ffbf501666eaca8ff474eb2b08b1950934b83a3a3e7af86cab7f183"},{"url":"http://www.oakwellreasoning.example/fees","domain":"oakwellreasoning.example","title":"What we charge | Oakwell Reasoning","content_hash":"77bc5d9dd7bde001647337d2a2bac2862712b16bc3b97f1cbdc64337911fd4f4"}],"steps":[{"type":"search","detail":"Searched “This issue Lagoon plan cost”: 10 results.","data":{"query":"This issue Lagoon plan cost","results":10}},{"type":"fetch","detail":"Read “This issue - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/"}},{"type":"fetch","detail":"Read “A bill from Parrotfish Cloud - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/2026/parrotfish-bill"}},{"type":"fetch","detail":"Read “Plans and prices · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/pricing"}},{"type":"fetch","detail":"Read “Rotas that people like · Kestrelworks” (kestrelworks.example).","data":{"url":"http://www.kestrelworks.example/"}},{"type":"fetch","detail":"Read “What we charge | Oakwell Reasoning” (oakwellreasoning.example).","data":{"url":"http://www.oakwellreasoning.example/fees"}}]},{"task":{"id":"r2_3","kind":"fill","search_query":"80 million Parrotfish Cloud cost","instructions":"Find: What the question means may be 80 million","target_gap":"What the question means may be 80 million"},"sources":[{"url":"http://www.parrotfish.example/pricing","domain":"parrotfish.example","title":"Plans and prices · Parrotfish Cloud","content_hash":"3974e220abe70d6ce271e3cae3ae8b5aba06cb83f7bda921ddd769cde32926c5"},{"url":"http://www.benchquarterly.example/2026/parrotfish-bill","domain":"benchquarterly.example","title":"A bill from Parrotfish Cloud - Bench Quarterly","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"},{"url":"http://www.parrotfish.example/","domain":"parrotfish.example","title":"One endpoint, every model · Parrotfish Cloud","content_hash":"3dd07e54eec02aeb139fb58c62fd840a33bf027a622e2258b70cae110c8758de"},{"url":"http://www.benchquarterly.example/","domain":"benchquarterly.example","title":"This issue - Bench Quarterly","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"},{"url":"http://www.steamandsip.example/best-variable-temperature-under-50","domain":"steamandsip.example","title":"Best variable temperature kettles under £50 - Steam & Sip","content_hash":"528267e5a99380d979f865b922d0c069ab692a7b661a22f96dcf2635490c0321"}],"steps":[{"type":"search","detail":"Searched “80 million Parrotfish Cloud cost”: 10 results.","data":{"query":"80 million Parrotfish Cloud cost","results":10}},{"type":"fetch","detail":"Read “Plans and prices · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/pricing"}},{"type":"fetch","detail":"Read “A bill from Parrotfish Cloud - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/2026/parrotfish-bill"}},{"type":"fetch","detail":"Read “One endpoint, every model · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/"}},{"type":"fetch","detail":"Read “This issue - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/"}},{"type":"fetch","detail":"Read “Best variable temperature kettles under £50 - Steam & Sip” (steamandsip.example).","data":{"url":"http://www.steamandsip.example/best-variable-temperature-under-50"}}]},{"task":{"id":"r2_4","kind":"fill","search_query":"Lagoon plan of Parrotfish Cloud cost explained","instructions":"Find what answers: What does the Lagoon plan of Parrotfish Cloud cost?","target_gap":"What does the Lagoon plan of Parrotfish Cloud cost?: all of it comes from one domain"},"sources":[{"url":"http://www.benchquarterly.example/2026/parrotfish-bill","domain":"benchquarterly.example","title":"A bill from Parrotfish Cloud - Bench Quarterly","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"},{"url":"http://www.parrotfish.example/pricing","domain":"parrotfish.example","title":"Plans and prices · Parrotfish Cloud","content_hash":"3974e220abe70d6ce271e3cae3ae8b5aba06cb83f7bda921ddd769cde32926c5"},{"url":"http://www.parrotfish.example/","domain":"parrotfish.example","title":"One endpoint, every model · Parrotfish Cloud","content_hash":"3dd07e54eec02aeb139fb58c62fd840a33bf027a622e2258b70cae110c8758de"},{"url":"http://www.benchquarterly.example/","domain":"benchquarterly.example","title":"This issue - Bench Quarterly","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"},{"url":"http://www.oakwellreasoning.example/fees","domain":"oakwellreasoning.example","title":"What we charge | Oakwell Reasoning","content_hash":"77bc5d9dd7bde001647337d2a2bac2862712b16bc3b97f1cbdc64337911fd4f4"}],"steps":[{"type":"search","detail":"Searched “Lagoon plan of Parrotfish Cloud cost explained”: 10 results.","data":{"query":"Lagoon plan of Parrotfish Cloud cost explained","results":10}},{"type":"fetch","detail":"Read “A bill from Parrotfish Cloud - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/2026/parrotfish-bill"}},{"type":"fetch","detail":"Read “Plans and prices · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/pricing"}},{"type":"fetch","detail":"Read “One endpoint, every model · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/"}},{"type":"fetch","detail":"Read “This issue - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/"}},{"type":"fetch","detail":"Read “What we charge | Oakwell Reasoning” (oakwellreasoning.example).","data":{"url":"http://www.oakwellreasoning.example/fees"}}]}],"memo":{"query":"What does the Lagoon plan of Parrotfish Cloud cost?","report_type":"narrative","round_index":2,"tasks_completed":9,"tasks_remaining":6,"unique_citations":3,"unique_domains":2,"pages_extracted":10,"themes_covered":["What does the Lagoon plan of Parrotfish Cloud cost?: $59"],"sources_summary":[{"url":"http://www.benchquarterly.example/2026/parrotfish-bill","domain":"benchquarterly.example","title":"A bill from Parrotfish Cloud - Bench Quarterly","has_evidence":true},{"url":"http://www.parrotfish.example/pricing","domain":"parrotfish.example","title":"Plans and prices · Parrotfish Cloud","has_evidence":true,"relevance":"pricing"},{"url":"http://www.benchquarterly.example/","domain":"benchquarterly.example","title":"This issue - Bench Quarterly","has_evidence":true,"relevance":"overview"},{"url":"http://www.oakwellreasoning.example/fees","domain":"oakwellreasoning.example","title":"What we charge | Oakwell Reasoning","relevance":"pricing"},{"url":"http://www.haldenrourke.example/company/history","domain":"haldenrourke.example","title":"Halden & Rourke Logistics – A history on wheels","relevance":"overview"},{"url":"http://www.kristallhof.example/","domain":"kristallhof.example","title":"Lenses from Sankt Orlen | Kristallhof Optik","relevance":"overview"},{"url":"http://www.kestrelworks.example/","domain":"kestrelworks.example","title":"Rotas that people like · Kestrelworks","relevance":"overview"},{"url":"http://www.steamandsip.example/best-variable-temperature-under-50","domain":"steamandsip.example","title":"Best variable temperature kettles under £50 - Steam & Sip"},{"url":"http://www.parrotfish.example/","domain":"parrotfish.example","title":"One endpoint, every model · Parrotfish Cloud","relevance":"overview"},{"url":"http://www.parrotfish.example/customers/tarrow-lake-cycles","domain":"parrotfish.example","title":"Tarrow Lake Cycles answers the phone again · Parrotfish Cloud","relevance":"case_study"}],"gaps":[{"gap_type":"weak_evidence","description":"What does the Lagoon plan of Parrotfish Cloud cost?: all of it comes from one domain","priority":3,"missing_topic":"What does the Lagoon plan of Parrotfish Cloud cost?","suggested_query":"Lagoon plan of Parrotfish Cloud cost report analysis"}],"claims_to_verify":[{"claim_text":"The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.","source_url":"http://www.benchquarterly.example/2026/parrotfish-bill","verification_query":"Lagoon plan Parrotfish Cloud costs month since middle","row_id":1,"field":"Answer"}]},"closed":["A bill from Parrotfish Cloud","This issue","80 million"],"usage":{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":4,"fetches":2,"cache_hits":1,"cost_usd":0.0,"seconds":0.72}}');
INSERT INTO public.research_rounds VALUES ('dxq9kfkqas', 3, '{"index":3,"tasks":[{"id":"v_1","kind":"verify","search_query":"Lagoon plan Parrotfish Cloud costs month since middle","instructions":"Look for independent sources that confirm or contradict it, other than http://www.benchquarterly.example/2026/parrotfish-bill","target_gap":"The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.","row_id":1,"fields":["Answer"]},{"id":"v_2","kind":"verify","search_query":"Lagoon plan of Parrotfish Cloud costs per month since middle of June says bill got web pa review comparison","instructions":"Look for independent sources that confirm or contradict it, other than http://www.benchquarterly.example/2026/parrotfish-bill","target_gap":"The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.","row_id":1,"fields":["Answer"]},{"id":"v_3","kind":"verify","search_query":"Lagoon plan of Parrotfish Cloud costs per month since middle of June says bill got web pa independent","instructions":"Look for independent sources that confirm or contradict it, other than http://www.benchquarterly.example/2026/parrotfish-bill","target_gap":"The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.","row_id":1,"fields":["Answer"]}],"notes":[{"task":{"id":"v_1","kind":"verify","search_query":"Lagoon plan Parrotfish Cloud costs month since middle","instructions":"Look for independent sources that confirm or contradict it, other than http://www.benchquarterly.example/2026/parrotfish-bill","target_gap":"The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.","row_id":1,"fields":["Answer"]},"sources":[{"url":"http://www.benchquarterly.example/2026/parrotfish-bill","domain":"benchquarterly.example","title":"A bill from Parrotfish Cloud - Bench Quarterly","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"},{"url":"http://www.parrotfish.example/pricing","domain":"parrotfish.example","title":"Plans and prices · Parrotfish Cloud","content_hash":"3974e220abe70d6ce271e3cae3ae8b5aba06cb83f7bda921ddd769cde32926c5"},{"url":"http://www.parrotfish.example/","domain":"parrotfish.example","title":"One endpoint, every model · Parrotfish Cloud","content_hash":"3dd07e54eec02aeb139fb58c62fd840a33bf027a622e2258b70cae110c8758de"},{"url":"http://www.benchquarterly.example/","domain":"benchquarterly.example","title":"This issue - Bench Quarterly","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"},{"url":"http://www.kestrelworks.example/","domain":"kestrelworks.example","title":"Rotas that people like · Kestrelworks","content_hash":"97048a128ffbf501666eaca8ff474eb2b08b1950934b83a3a3e7af86cab7f183"}],"steps":[{"type":"search","detail":"Searched “Lagoon plan Parrotfish Cloud costs month since middle”: 10 results.","data":{"query":"Lagoon plan Parrotfish Cloud costs month since middle","results":10}},{"type":"fetch","detail":"Read “A bill from Parrotfish Cloud - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/2026/parrotfish-bill"}},{"type":"fetch","detail":"Read “Plans and prices · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/pricing"}},{"type":"fetch","detail":"Read “One endpoint, every model · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/"}},{"type":"fetch","detail":"Read “This issue - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/"}},{"type":"fetch","detail":"Read “Rotas that people like · Kestrelworks” (kestrelworks.example).","data":{"url":"http://www.kestrelworks.example/"}}]},{"task":{"id":"v_2","kind":"verify","search_query":"Lagoon plan of Parrotfish Cloud costs per month since middle of June says bill got web pa review comparison","instructions":"Look for independent sources that confirm or contradict it, other than http://www.benchquarterly.example/2026/parrotfish-bill","target_gap":"The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.","row_id":1,"fields":["Answer"]},"sources":[{"url":"http://www.benchquarterly.example/2026/parrotfish-bill","domain":"benchquarterly.example","title":"A bill from Parrotfish Cloud - Bench Quarterly","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"},{"url":"http://www.parrotfish.example/pricing","domain":"parrotfish.example","title":"Plans and prices · Parrotfish Cloud","content_hash":"3974e220abe70d6ce271e3cae3ae8b5aba06cb83f7bda921ddd769cde32926c5"},{"url":"http://www.parrotfish.example/customers/tarrow-lake-cycles","domain":"parrotfish.example","title":"Tarrow Lake Cycles answers the phone again · Parrotfish Cloud","content_hash":"4b4ef4a006fe6432fe4ae58e8d75495cd8626a8b2de3ff416380807f1a69f621"},{"url":"http://www.benchquarterly.example/","domain":"benchquarterly.example","title":"This issue - Bench Quarterly","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"},{"url":"http://www.kestrelworks.example/","domain":"kestrelworks.example","title":"Rotas that people like · Kestrelworks","content_hash":"97048a128ffbf501666eaca8ff474eb2b08b1950934b83a3a3e7af86cab7f183"}],"steps":[{"type":"search","detail":"Searched “Lagoon plan of Parrotfish Cloud costs per month since middle of June says bill got web pa review comparison”: 10 results.","data":{"query":"Lagoon plan of Parrotfish Cloud costs per month since middle of June says bill got web pa review comparison","results":10}},{"type":"fetch","detail":"Read “A bill from Parrotfish Cloud - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/2026/parrotfish-bill"}},{"type":"fetch","detail":"Read “Plans and prices · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/pricing"}},{"type":"fetch","detail":"Read “Tarrow Lake Cycles answers the phone again · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/customers/tarrow-lake-cycles"}},{"type":"fetch","detail":"Read “This issue - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/"}},{"type":"fetch","detail":"Read “Rotas that people like · Kestrelworks” (kestrelworks.example).","data":{"url":"http://www.kestrelworks.example/"}}]},{"task":{"id":"v_3","kind":"verify","search_query":"Lagoon plan of Parrotfish Cloud costs per month since middle of June says bill got web pa independent","instructions":"Look for independent sources that confirm or contradict it, other than http://www.benchquarterly.example/2026/parrotfish-bill","target_gap":"The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.","row_id":1,"fields":["Answer"]},"sources":[{"url":"http://www.benchquarterly.example/2026/parrotfish-bill","domain":"benchquarterly.example","title":"A bill from Parrotfish Cloud - Bench Quarterly","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"},{"url":"http://www.parrotfish.example/pricing","domain":"parrotfish.example","title":"Plans and prices · Parrotfish Cloud","content_hash":"3974e220abe70d6ce271e3cae3ae8b5aba06cb83f7bda921ddd769cde32926c5"},{"url":"http://www.parrotfish.example/customers/tarrow-lake-cycles","domain":"parrotfish.example","title":"Tarrow Lake Cycles answers the phone again · Parrotfish Cloud","content_hash":"4b4ef4a006fe6432fe4ae58e8d75495cd8626a8b2de3ff416380807f1a69f621"},{"url":"http://www.benchquarterly.example/","domain":"benchquarterly.example","title":"This issue - Bench Quarterly","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"},{"url":"http://www.kestrelworks.example/","domain":"kestrelworks.example","title":"Rotas that people like · Kestrelworks","content_hash":"97048a128ffbf501666eaca8ff474eb2b08b1950934b83a3a3e7af86cab7f183"}],"steps":[{"type":"search","detail":"Searched “Lagoon plan of Parrotfish Cloud costs per month since middle of June says bill got web pa independent”: 10 results.","data":{"query":"Lagoon plan of Parrotfish Cloud costs per month since middle of June says bill got web pa independent","results":10}},{"type":"fetch","detail":"Read “A bill from Parrotfish Cloud - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/2026/parrotfish-bill"}},{"type":"fetch","detail":"Read “Plans and prices · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/pricing"}},{"type":"fetch","detail":"Read “Tarrow Lake Cycles answers the phone again · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/customers/tarrow-lake-cycles"}},{"type":"fetch","detail":"Read “This issue - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/"}},{"type":"fetch","detail":"Read “Rotas that people like · Kestrelworks” (kestrelworks.example).","data":{"url":"http://www.kestrelworks.example/"}}]}],"memo":{"query":"What does the Lagoon plan of Parrotfish Cloud cost?","report_type":"narrative","round_index":3,"tasks_completed":12,"tasks_remaining":3,"unique_citations":3,"unique_domains":2,"pages_extracted":10,"themes_covered":["What does the Lagoon plan of Parrotfish Cloud cost?: $59"],"sources_summary":[{"url":"http://www.benchquarterly.example/2026/parrotfish-bill","domain":"benchquarterly.example","title":"A bill from Parrotfish Cloud - Bench Quarterly","has_evidence":true},{"url":"http://www.parrotfish.example/pricing","domain":"parrotfish.example","title":"Plans and prices · Parrotfish Cloud","has_evidence":true,"relevance":"pricing"},{"url":"http://www.benchquarterly.example/","domain":"benchquarterly.example","title":"This issue - Bench Quarterly","has_evidence":true,"relevance":"overview"},{"url":"http://www.oakwellreasoning.example/fees","domain":"oakwellreasoning.example","title":"What we charge | Oakwell Reasoning","relevance":"pricing"},{"url":"http://www.haldenrourke.example/company/history","domain":"haldenrourke.example","title":"Halden & Rourke Logistics – A history on wheels","relevance":"overview"},{"url":"http://www.kristallhof.example/","domain":"kristallhof.example","title":"Lenses from Sankt Orlen | Kristallhof Optik","relevance":"overview"},{"url":"http://www.kestrelworks.example/","domain":"kestrelworks.example","title":"Rotas that people like · Kestrelworks","relevance":"overview"},{"url":"http://www.steamandsip.example/best-variable-temperature-under-50","domain":"steamandsip.example","title":"Best variable temperature kettles under £50 - Steam & Sip"},{"url":"http://www.parrotfish.example/","domain":"parrotfish.example","title":"One endpoint, every model · Parrotfish Cloud","relevance":"overview"},{"url":"http://www.parrotfish.example/customers/tarrow-lake-cycles","domain":"parrotfish.example","title":"Tarrow Lake Cycles answers the phone again · Parrotfish Cloud","relevance":"case_study"}],"gaps":[{"gap_type":"weak_evidence","description":"What does the Lagoon plan of Parrotfish Cloud cost?: all of it comes from one domain","priority":3,"missing_topic":"What does the Lagoon plan of Parrotfish Cloud cost?","suggested_query":"Lagoon plan of Parrotfish Cloud cost"}]},"checked":[{"claim":{"claim_text":"The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.","source_url":"http://www.benchquarterly.example/2026/parrotfish-bill","verification_query":"Lagoon plan Parrotfish Cloud costs month since middle","row_id":1,"field":"Answer"},"verdict":"not checked","reason":"4 independent pages read; none speaks of it"}],"usage":{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":3,"fetches":0,"cache_hits":0,"cost_usd":0.0,"seconds":0.878}}');
INSERT INTO public.researches VALUES ('dxq9kfkqas', 'What does the Lagoon plan of Parrotfish Cloud cost?', '{"question":"What does the Lagoon plan of Parrotfish Cloud cost?","report_type":"narrative","reason":"it asks for one fact","angles":[{"name":"What does the Lagoon plan of Parrotfish Cloud cost?","question":"What does the Lagoon plan of Parrotfish Cloud cost?","query":"Lagoon plan of Parrotfish Cloud cost"}],"is_fact":true}', 'done', 'what-does-the-lagoon-plan-of-parrotfish', 15, '{"title":"What does the Lagoon plan of Parrotfish Cloud cost","question":"What does the Lagoon plan of Parrotfish Cloud cost?","report_type":"narrative","answer":{"text":"$59","citations":[1]},"sections":[{"heading":"How we know","sentences":[{"text":"The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.","citations":[1]}]}],"references":[{"number":1,"url":"http://www.benchquarterly.example/2026/parrotfish-bill","title":"A bill from Parrotfish Cloud - Bench Quarterly","domain":"benchquarterly.example","quotes":["The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49."],"retrieved_at":"2026-11-18T21:28:15.244024Z","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"}],"claims":[{"claim":{"claim_text":"The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.","source_url":"http://www.benchquarterly.example/2026/parrotfish-bill","verification_query":"Lagoon plan Parrotfish Cloud costs month since middle","row_id":1,"field":"Answer"},"verdict":"not checked","reason":"4 independent pages read; none speaks of it"}],"sources":[{"url":"http://www.benchquarterly.example/2026/parrotfish-bill","domain":"benchquarterly.example","title":"A bill from Parrotfish Cloud - Bench Quarterly","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"},{"url":"http://www.parrotfish.example/pricing","domain":"parrotfish.example","title":"Plans and prices · Parrotfish Cloud","content_hash":"3974e220abe70d6ce271e3cae3ae8b5aba06cb83f7bda921ddd769cde32926c5"},{"url":"http://www.parrotfish.example/","domain":"parrotfish.example","title":"One endpoint, every model · Parrotfish Cloud","content_hash":"3dd07e54eec02aeb139fb58c62fd840a33bf027a622e2258b70cae110c8758de"},{"url":"http://www.benchquarterly.example/","domain":"benchquarterly.example","title":"This issue - Bench Quarterly","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"},{"url":"http://www.oakwellreasoning.example/fees","domain":"oakwellreasoning.example","title":"What we charge | Oakwell Reasoning","content_hash":"77bc5d9dd7bde001647337d2a2bac2862712b16bc3b97f1cbdc64337911fd4f4"},{"url":"http://www.parrotfish.example/customers/tarrow-lake-cycles","domain":"parrotfish.example","title":"Tarrow Lake Cycles answers the phone again · Parrotfish Cloud","content_hash":"4b4ef4a006fe6432fe4ae58e8d75495cd8626a8b2de3ff416380807f1a69f621"},{"url":"http://www.zwaluwmolen.example/feiten-en-cijfers","domain":"zwaluwmolen.example","status":"blocked","detail":"the site refuses to show it (403)"},{"url":"http://www.haldenrourke.example/company/history","domain":"haldenrourke.example","title":"Halden & Rourke Logistics – A history on wheels","content_hash":"4fb938034bc6dfb4ffb88ba05d32642a5a74584c37ec3c137832e1e1c4c938db"},{"url":"http://www.kristallhof.example/","domain":"kristallhof.example","title":"Lenses from Sankt Orlen | Kristallhof Optik","content_hash":"5bd5e011fb29b71a3b9aea8d8446e12962cc4de10714cdd2c8c24b7eff5993a5"},{"url":"http://www.kestrelworks.example/","domain":"kestrelworks.example","title":"Rotas that people like · Kestrelworks","content_hash":"97048a128ffbf501666eaca8ff474eb2b08b1950934b83a3a3e7af86cab7f183"},{"url":"http://www.steamandsip.example/best-variable-temperature-under-50","domain":"steamandsip.example","title":"Best variable temperature kettles under £50 - Steam & Sip","content_hash":"528267e5a99380d979f865b922d0c069ab692a7b661a22f96dcf2635490c0321"}],"rounds":[{"index":1,"name":"discovery","tasks":["Lagoon plan of Parrotfish Cloud cost","What does the Lagoon plan of Parrotfish Cloud cost","Lagoon Parrotfish Cloud","Lagoon plan of Parrotfish Cloud cost facts","Lagoon Parrotfish Cloud history"],"open":["What the question means may be A bill from Parrotfish Cloud","What the question means may be This issue","What the question means may be 80 million","What does the Lagoon plan of Parrotfish Cloud cost?: all of it comes from one domain"]},{"index":2,"name":"gap-filling","tasks":["A bill from Parrotfish Cloud","This issue Lagoon plan cost","80 million Parrotfish Cloud cost","Lagoon plan of Parrotfish Cloud cost explained"],"closed":["A bill from Parrotfish Cloud","This issue","80 million"],"open":["What does the Lagoon plan of Parrotfish Cloud cost?: all of it comes from one domain"]},{"index":3,"name":"verification","tasks":["Lagoon plan Parrotfish Cloud costs month since middle","Lagoon plan of Parrotfish Cloud costs per month since middle of June says bill got web pa review comparison","Lagoon plan of Parrotfish Cloud costs per month since middle of June says bill got web pa independent"],"open":["What does the Lagoon plan of Parrotfish Cloud cost?: all of it comes from one domain"]}],"usage":{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":12,"fetches":10,"cache_hits":5,"cost_usd":0.0,"seconds":5.587000000000001},"created_at":"2026-11-18T21:28:19.079210Z"}', '[]', '2026-11-18T21:28:10.882075Z', '2026-11-18T21:28:19.082049Z');
INSERT INTO public.rows VALUES (1, 1, 'pen', '[{"1":"Pen","2":12.5,"3":3},{"2":"12.50"}]', false);
INSERT INTO public.rows VALUES (1, 2, 'ink', '[{"1":"Ink","2":4,"3":2},{}]', false);
INSERT INTO public.rows VALUES (1, 3, 'cap', '[{"1":"Cap","3":4},{}]', false);
INSERT INTO public.rows VALUES (2, 1, 'kestrelworks', '[{"1":"Kestrelworks"},{}]', false);
INSERT INTO public.rows VALUES (3, 1, 'what does the lagoon plan of parrotfish cloud cost', '[{"1":"What does the Lagoon plan of Parrotfish Cloud cost?","2":"What does the Lagoon plan of Parrotfish Cloud cost?"},{}]', false);
INSERT INTO public.rows VALUES (3, 2, 'a bill from parrotfish cloud', '[{"2":"What does A bill from Parrotfish Cloud?"},{}]', false);
INSERT INTO public.rows VALUES (3, 3, 'this issue', '[{"2":"What does the Lagoon plan of This issue cost?"},{}]', false);
INSERT INTO public.rows VALUES (3, 4, '80 million', '[{"2":"What does 80 million of Parrotfish Cloud cost?"},{}]', false);
INSERT INTO public.run_slices VALUES ('rz4f6pwjks', 1, '{"row_ids":[1]}', 'vm-22774-bf3e54/strrq889sh', '[1]', true, '{"rows":1,"found":0,"empty":1,"skipped":0,"left":0,"unasked":0,"bought_rows":1,"bought_cells":1,"degraded":0,"incomplete":0,"skipped_rows":[],"cause":""}', '{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":4,"fetches":10,"cache_hits":0,"cost_usd":0.0,"seconds":0.0}');
INSERT INTO public.runs VALUES ('r8kbr35y7g', 0, 'ingest', 'done', '{}', '2026-11-18T21:27:54.032402Z', '2026-11-18T21:27:58.927744Z', '{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":0,"fetches":0,"cache_hits":0,"cost_usd":0.0,"seconds":4.825}', NULL, 'vm-23329-67c344', '', 1, 1, 2);
INSERT INTO public.runs VALUES ('r68795c3rj', 1, 'enrich', 'done', '{"strategy":"computation","params":{},"model":"","strong":"","cascade":false,"attempts":3,"fields":["Total"],"concurrency":10,"again":false,"examples":{},"rows":0,"cells":0,"tally":{"rows":3,"found":2,"empty":1,"skipped":0,"left":0,"unasked":0,"bought_rows":0,"bought_cells":0,"degraded":0,"incomplete":0,"skipped_rows":[],"cause":""}}', '2026-11-18T21:27:29.431790Z', '2026-11-18T21:27:29.627123Z', '{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":0,"fetches":0,"cache_hits":0,"cost_usd":0.0,"seconds":0.165}', NULL, 'vm-22700-here', '', 0, 0, 0);
INSERT INTO public.runs VALUES ('rz4f6pwjks', 2, 'enrich', 'done', '{"strategy":"pipeline","params":{"rows_a_call":"8"},"model":"","strong":"","cascade":false,"attempts":3,"fields":["Founded"],"concurrency":8,"again":false,"examples":{},"settings":{"model":"builtin","model_strong":"","model_base_url":"","model_fallback":"","model_requests_per_minute":"","model_tokens_per_minute":"","model_concurrency":"","model_window":"","model_timeout":"","search":"sample","sources":"web","search_price":"","search_requests_per_second":"","embedder":"wordllama","embedder_base_url":"","fetch_allow":"","fetch_delay":"0","fetch_robots":"yes","evidence":"judged","cascade":"no","attempts":"3","threshold":"0.6","require_improvement":"yes","offline":"no","pause_after":"5","budget":"","budget_tokens":"","concurrency":""},"retry":{"threshold":0.6},"rows":1,"cells":1,"tally":{"rows":1,"found":0,"empty":1,"skipped":0,"left":0,"unasked":0,"bought_rows":1,"bought_cells":1,"degraded":0,"incomplete":0,"skipped_rows":[],"cause":""}}', '2026-11-18T21:27:39.876914Z', '2026-11-18T21:27:44.018920Z', '{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":4,"fetches":10,"cache_hits":0,"cost_usd":0.0,"seconds":4.104}', NULL, 'vm-22774-bf3e54', '', 1, 1, 6);
INSERT INTO public.runs VALUES ('rcuta2dhnt', 3, 'enrich', 'done', '{"strategy":"gathered","params":{},"model":"","strong":"","cascade":false,"attempts":1,"fields":["Answer"],"concurrency":4,"again":false,"examples":{},"rows":0,"cells":0,"tally":{"rows":3,"found":0,"empty":3,"skipped":0,"left":0,"unasked":0,"bought_rows":0,"bought_cells":0,"degraded":0,"incomplete":0,"skipped_rows":[],"cause":""}}', '2026-11-18T21:28:17.578228Z', '2026-11-18T21:28:17.689712Z', '{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":0,"fetches":0,"cache_hits":0,"cost_usd":0.0,"seconds":0.058}', NULL, 'vm-23943-here', '', 0, 0, 0);
INSERT INTO public.runs VALUES ('r5ep3x7fgt', 3, 'research', 'done', '{"research":"dxq9kfkqas","minutes":null,"question":"What does the Lagoon plan of Parrotfish Cloud cost?","actor":"ann","holder":"hpb8mae5b8"}', '2026-11-18T21:28:12.838924Z', '2026-11-18T21:28:19.114150Z', '{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":12,"fetches":10,"cache_hits":5,"cost_usd":0.0,"seconds":6.255}', NULL, 'vm-23943-8e4d21', '', 0, 0, 38);
INSERT INTO public.runs VALUES ('r4zkcxbu7k', 3, 'enrich', 'done', '{"strategy":"gathered","params":{},"model":"","strong":"","cascade":false,"attempts":1,"fields":["Answer"],"concurrency":4,"again":false,"examples":{},"rows":0,"cells":0,"tally":{"rows":1,"found":1,"empty":0,"skipped":0,"left":0,"unasked":0,"bought_rows":0,"bought_cells":0,"degraded":0,"incomplete":0,"skipped_rows":[],"cause":""}}', '2026-11-18T21:28:15.770621Z', '2026-11-18T21:28:16.730118Z', '{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":0,"fetches":0,"cache_hits":0,"cost_usd":0.0,"seconds":0.932}', NULL, 'vm-23943-here', '', 0, 0, 0);
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
INSERT INTO public.segments VALUES (16777216, 0, 40, NULL, '', 'Lease
Tenant: Ilse Brandt
Rent: 840 EUR');
INSERT INTO public.summaries VALUES (16777216, 0, 0, 'Lease Tenant: Ilse Brandt Rent: 840 EUR');
INSERT INTO public.tables VALUES (2, 'towns', 'towns', 'Company', '2026-11-18T21:27:32.842988Z', 1, 1, 1, 0);
INSERT INTO public.tables VALUES (3, 'what-does-the-lagoon-plan-of-parrotfish', 'What does the Lagoon plan of Parrotfish Cloud cost', 'Angle', '2026-11-18T21:28:10.662423Z', 4, 3, 6, 7);
INSERT INTO public.tables VALUES (1, 'sales', 'sales', 'Item', '2026-11-18T21:27:29.258546Z', 3, 4, 3, 5);
INSERT INTO public.texts VALUES ('06fec15942e405aaf566ea3006319d01ad462d5f9f0e97eba9c3d79646762f77', '\x789cf3494d2c4ee5e20a49cd4bcc2bb152f0cc294e55702a4acc4b29e10a4a058958981828b8860671010015ee0c7a');
INSERT INTO public.turn_documents VALUES ('doc_d347ctjrx', 'cgqjgc9cxn', 1);
INSERT INTO public.turns VALUES ('cgqjgc9cxn', 1, '{"question":"Who is the tenant?","answer":"Tenant: Ilse Brandt [source 1]","route":"long-text","fallbacks":["hybrid","structured"],"reason":"an explanation is asked for","attempts":["search_vector(summary)(tenant): 1 (top 4)","search_vector(segment)(tenant, in 1 documents): 1 (top 4)","search_text + search_vector(segment)(tenant): 1 (top 8)"],"documents":["doc_d347ctjrx"],"segments":[16777216],"understood":{"text":"Who is the tenant?","intent":"conceptual","terms":["tenant"]},"at":"2026-11-18T21:28:03.603477Z"}');
INSERT INTO public.users VALUES ('uxqef9zy6b', 'bob', 'editor', 'bf89e0cb31766d62fe54dfbfb31edc5f7026db61b62fc45233fe30d8b753b1b8', '2026-11-18T21:28:24.068454Z');
INSERT INTO public.words VALUES (1, '\x020000000ce442ab0100000062c4594e01000000902d03b80100000097d1c6e001000000cc4d78020100000061aeca48010000007a4d1e5d', '\x08000000');
SELECT pg_catalog.setval('public.documents_no_seq', 1, true);
SELECT pg_catalog.setval('public.tables_no_seq', 3, true);
ALTER TABLE ONLY public.annotations
    ADD CONSTRAINT annotations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT attempts_pkey PRIMARY KEY (run_id, row_id, number);
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
ALTER TABLE ONLY public.grants
    ADD CONSTRAINT grants_pkey PRIMARY KEY (user_id, table_id);
ALTER TABLE ONLY public.imports
    ADD CONSTRAINT imports_pkey PRIMARY KEY (table_no);
ALTER TABLE ONLY public.limits
    ADD CONSTRAINT limits_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.operations
    ADD CONSTRAINT operations_pkey PRIMARY KEY (proposal_id, row_id, field);
ALTER TABLE ONLY public.pages
    ADD CONSTRAINT pages_pkey PRIMARY KEY (url, content_hash);
ALTER TABLE ONLY public.properties
    ADD CONSTRAINT properties_pkey PRIMARY KEY (annotation_id, "position");
ALTER TABLE ONLY public.proposals
    ADD CONSTRAINT proposals_pkey PRIMARY KEY (id);
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
ALTER TABLE ONLY public.segments
    ADD CONSTRAINT segments_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.shortlists
    ADD CONSTRAINT shortlists_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.summaries
    ADD CONSTRAINT summaries_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.tables
    ADD CONSTRAINT tables_id_key UNIQUE (id);
ALTER TABLE ONLY public.tables
    ADD CONSTRAINT tables_pkey PRIMARY KEY (no);
ALTER TABLE ONLY public.texts
    ADD CONSTRAINT texts_pkey PRIMARY KEY (content_hash);
ALTER TABLE ONLY public.turn_documents
    ADD CONSTRAINT turn_documents_pkey PRIMARY KEY (document_id, conversation_id, number);
ALTER TABLE ONLY public.turns
    ADD CONSTRAINT turns_pkey PRIMARY KEY (conversation_id, number);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_name_key UNIQUE (name);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_token_hash_key UNIQUE (token_hash);
ALTER TABLE ONLY public.vectors
    ADD CONSTRAINT vectors_pkey PRIMARY KEY (document_no, target);
ALTER TABLE ONLY public.words
    ADD CONSTRAINT words_pkey PRIMARY KEY (document_no);
ALTER TABLE ONLY public.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (id);
CREATE INDEX document_texts_by_hash ON public.document_texts USING btree (content_hash);
CREATE INDEX documents_by_name ON public.documents USING btree (name);
CREATE INDEX edits_by_cell ON public.edits USING btree (table_no, row_id, field_id, seq);
CREATE INDEX imports_by_path ON public.imports USING btree (path);
CREATE INDEX properties_by_label ON public.properties USING btree (label, context);
CREATE INDEX proposals_by_table ON public.proposals USING btree (table_no, created_at);
CREATE INDEX result_rows_by_document ON public.result_rows USING btree (document_id);
CREATE INDEX runs_by_status ON public.runs USING btree (status, started_at);
CREATE INDEX runs_by_table ON public.runs USING btree (table_no, started_at);
