BEGIN TRANSACTION;
CREATE TABLE annotations (
            id INTEGER PRIMARY KEY, shape TEXT NOT NULL, begins INTEGER NOT NULL, ends INTEGER NOT NULL,
            page INTEGER, found_by TEXT NOT NULL, grid INTEGER NOT NULL
        );
INSERT INTO "annotations" VALUES(16777216,'fact',7,26,NULL,'pairs',0);
INSERT INTO "annotations" VALUES(16777217,'fact',27,40,NULL,'pairs',0);
CREATE TABLE attempts (
            run_id TEXT NOT NULL, row_id BIGINT NOT NULL, number INTEGER NOT NULL, attempt TEXT NOT NULL,
            PRIMARY KEY (run_id, row_id, number)
        ) WITHOUT ROWID;
INSERT INTO "attempts" VALUES('re4992m6gx',1,1,'{"number":1,"columns":["Founded"],"patterns":["%entity Founded year"],"queries":["Kestrelworks Founded year"],"urls":["http://www.candlewickpedia.example/wiki/Kestrelworks","http://www.kestrelworks.example/about-kestrelworks","http://www.kestrelworks.example/blog/ten-years","http://www.kestrelworks.example/"],"results":{"Founded":"2009"},"confidences":{"Founded":0.9875},"assessment":{}}');
CREATE TABLE audit (
            no INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, who TEXT NOT NULL, door TEXT NOT NULL, action TEXT NOT NULL,
            thing TEXT NOT NULL, detail TEXT NOT NULL
        );
INSERT INTO "audit" VALUES(1,'2026-11-18T21:29:28.109604Z','ann','command line','user','user bob','added as editor');
INSERT INTO "audit" VALUES(2,'2026-11-18T21:29:32.167513Z','ann','command line','share','table sales','with bob');
CREATE TABLE cache (
            kind TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, created_at TEXT NOT NULL,
            PRIMARY KEY (kind, key)
        ) WITHOUT ROWID;
CREATE TABLE cache_documents (
            kind TEXT NOT NULL, key TEXT NOT NULL, document_id TEXT NOT NULL, PRIMARY KEY (document_id, kind, key)
        ) WITHOUT ROWID;
CREATE TABLE cells (
            table_no INTEGER NOT NULL, row_id BIGINT NOT NULL, field_id INTEGER NOT NULL, status TEXT NOT NULL,
            cell TEXT NOT NULL, PRIMARY KEY (table_no, row_id, field_id)
        ) WITHOUT ROWID;
INSERT INTO "cells" VALUES(1,1,4,'FLAGGED','{"value":37.5,"raw_value":"37.5","status":"FLAGGED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(12.5 * 3, 2) = 37.5"}],"cost":0.0,"attempt":1,"run_id":"rrk6rqzrb7","updated_at":"2026-11-18T21:28:49.233698Z","error":"flagged: net?"}');
INSERT INTO "cells" VALUES(1,2,4,'ENRICHED','{"value":8,"raw_value":"8","status":"ENRICHED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(4 * 2, 2) = 8"}],"cost":0.0,"attempt":1,"run_id":"rrk6rqzrb7","updated_at":"2026-11-18T21:28:49.233698Z"}');
INSERT INTO "cells" VALUES(1,3,4,'FAILED','{"status":"FAILED","reason":"not_applicable","cost":0.0,"attempt":1,"run_id":"rrk6rqzrb7","updated_at":"2026-11-18T21:28:49.233698Z","error":"Price is empty"}');
INSERT INTO "cells" VALUES(3,1,1,'ENRICHED','{"value":"The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.","raw_value":"The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.","status":"ENRICHED","confidence":0.9,"basis":"stated","evidence":[{"origin":"http://www.benchquarterly.example/2026/parrotfish-bill","title":"A bill from Parrotfish Cloud - Bench Quarterly","quote":"The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.","start":62,"end":204,"domain":"benchquarterly.example","retrieved_at":"2026-11-18T21:29:23.785758Z","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"}],"updated_at":"2026-11-18T21:29:23.848811Z"}');
INSERT INTO "cells" VALUES(3,2,1,'ENRICHED','{"value":"In this issue: AI providers compared, a bill from Parrotfish Cloud, and why our own kettle tests moved to another magazine.","raw_value":"In this issue: AI providers compared, a bill from Parrotfish Cloud, and why our own kettle tests moved to another magazine.","status":"ENRICHED","confidence":0.9,"basis":"stated","evidence":[{"origin":"http://www.benchquarterly.example/","title":"This issue - Bench Quarterly","quote":"In this issue: AI providers compared, a bill from Parrotfish Cloud, and why our own kettle tests moved to another magazine.","start":249,"end":372,"domain":"benchquarterly.example","retrieved_at":"2026-11-18T21:29:23.797768Z","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"}],"updated_at":"2026-11-18T21:29:23.848846Z"}');
INSERT INTO "cells" VALUES(3,3,1,'ENRICHED','{"value":"A bill from Parrotfish Cloud","raw_value":"A bill from Parrotfish Cloud","status":"ENRICHED","confidence":0.9,"basis":"stated","evidence":[{"origin":"http://www.benchquarterly.example/","title":"This issue - Bench Quarterly","quote":"A bill from Parrotfish Cloud","start":463,"end":491,"domain":"benchquarterly.example","retrieved_at":"2026-11-18T21:29:23.797768Z","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"}],"updated_at":"2026-11-18T21:29:23.848855Z"}');
CREATE TABLE changes (
            table_no INTEGER NOT NULL, change BIGINT NOT NULL, at TEXT NOT NULL, actor TEXT NOT NULL,
            kind TEXT NOT NULL, run_id TEXT, note TEXT NOT NULL, first_seq BIGINT NOT NULL, last_seq BIGINT NOT NULL,
            PRIMARY KEY (table_no, change)
        );
INSERT INTO "changes" VALUES(1,1,'2026-11-18T21:28:48.505720Z','ann','create',NULL,'imported sales.csv',1,0);
INSERT INTO "changes" VALUES(1,2,'2026-11-18T21:28:49.484615Z','ann','auto_apply','rrk6rqzrb7','Computation: Total — found 2 of 3 rows',1,4);
INSERT INTO "changes" VALUES(2,1,'2026-11-18T21:28:58.319319Z','ann','create',NULL,'imported towns.csv',1,0);
INSERT INTO "changes" VALUES(3,1,'2026-11-18T21:29:23.505190Z','ann','create',NULL,'deep research',1,0);
INSERT INTO "changes" VALUES(3,2,'2026-11-18T21:29:23.870981Z','ann','edit',NULL,'notes of deep research',1,3);
INSERT INTO "changes" VALUES(1,3,'2026-11-18T21:29:35.927381Z','ann','edit',NULL,'flagged row 1, Total: net?',5,5);
INSERT INTO "changes" VALUES(1,4,'2026-11-18T21:29:40.531124Z','ann','edit',NULL,'flagged row 1, Total: net?',6,6);
CREATE TABLE conversations (
            id TEXT PRIMARY KEY, started_at TEXT NOT NULL, summary TEXT NOT NULL, last_turn INTEGER NOT NULL
        );
INSERT INTO "conversations" VALUES('ca4g9djt9t','2026-11-18T21:29:15.912125Z','',1);
CREATE TABLE corpus (version BIGINT NOT NULL);
INSERT INTO "corpus" VALUES(1);
CREATE TABLE document_texts (
            document_id TEXT NOT NULL, content_hash TEXT NOT NULL, PRIMARY KEY (document_id, content_hash)
        ) WITHOUT ROWID;
INSERT INTO "document_texts" VALUES('doc_v47ed3zzj','06fec15942e405aaf566ea3006319d01ad462d5f9f0e97eba9c3d79646762f77');
CREATE TABLE documents (
            no INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, path TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
            file_hash TEXT NOT NULL, text_hash TEXT NOT NULL, readable BOOLEAN NOT NULL, segments INTEGER NOT NULL,
            facts INTEGER NOT NULL, rows INTEGER NOT NULL, document TEXT NOT NULL
        );
INSERT INTO "documents" VALUES(1,'doc_v47ed3zzj','/home/ann/papers/lease.txt','lease.txt','06fec15942e405aaf566ea3006319d01ad462d5f9f0e97eba9c3d79646762f77','06fec15942e405aaf566ea3006319d01ad462d5f9f0e97eba9c3d79646762f77',1,1,2,0,'{"id":"doc_v47ed3zzj","path":"/home/ann/papers/lease.txt","name":"lease.txt","title":"lease","media":"txt","heading":"Lease","categories":["short","data-heavy"],"file_hash":"06fec15942e405aaf566ea3006319d01ad462d5f9f0e97eba9c3d79646762f77","text_hash":"06fec15942e405aaf566ea3006319d01ad462d5f9f0e97eba9c3d79646762f77","size":41,"pages":1,"characters":41,"added_at":"2026-11-18T21:29:09.643176Z"}');
CREATE TABLE edits (
            table_no INTEGER NOT NULL, seq BIGINT NOT NULL, kind TEXT NOT NULL, row_id BIGINT, field_id INTEGER,
            before TEXT, after TEXT, PRIMARY KEY (table_no, seq)
        ) WITHOUT ROWID;
INSERT INTO "edits" VALUES(1,1,'add_field',NULL,4,NULL,NULL);
INSERT INTO "edits" VALUES(1,2,'cell',1,4,NULL,'{"value":37.5,"raw_value":"37.5","status":"ENRICHED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(12.5 * 3, 2) = 37.5"}],"cost":0.0,"attempt":1,"run_id":"rrk6rqzrb7","updated_at":"2026-11-18T21:28:49.233698Z"}');
INSERT INTO "edits" VALUES(1,3,'cell',2,4,NULL,'{"value":8,"raw_value":"8","status":"ENRICHED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(4 * 2, 2) = 8"}],"cost":0.0,"attempt":1,"run_id":"rrk6rqzrb7","updated_at":"2026-11-18T21:28:49.233698Z"}');
INSERT INTO "edits" VALUES(1,4,'cell',3,4,NULL,'{"status":"FAILED","reason":"not_applicable","cost":0.0,"attempt":1,"run_id":"rrk6rqzrb7","updated_at":"2026-11-18T21:28:49.233698Z","error":"Price is empty"}');
INSERT INTO "edits" VALUES(1,5,'cell',1,4,'{"value":37.5,"raw_value":"37.5","status":"ENRICHED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(12.5 * 3, 2) = 37.5"}],"cost":0.0,"attempt":1,"run_id":"rrk6rqzrb7","updated_at":"2026-11-18T21:28:49.233698Z"}','{"value":37.5,"raw_value":"37.5","status":"FLAGGED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(12.5 * 3, 2) = 37.5"}],"cost":0.0,"attempt":1,"run_id":"rrk6rqzrb7","updated_at":"2026-11-18T21:28:49.233698Z","error":"flagged: net?"}');
INSERT INTO "edits" VALUES(1,6,'cell',1,4,'{"value":37.5,"raw_value":"37.5","status":"FLAGGED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(12.5 * 3, 2) = 37.5"}],"cost":0.0,"attempt":1,"run_id":"rrk6rqzrb7","updated_at":"2026-11-18T21:28:49.233698Z","error":"flagged: net?"}','{"value":37.5,"raw_value":"37.5","status":"FLAGGED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(12.5 * 3, 2) = 37.5"}],"cost":0.0,"attempt":1,"run_id":"rrk6rqzrb7","updated_at":"2026-11-18T21:28:49.233698Z","error":"flagged: net?"}');
INSERT INTO "edits" VALUES(3,1,'add_row',1,NULL,NULL,NULL);
INSERT INTO "edits" VALUES(3,2,'add_row',2,NULL,NULL,NULL);
INSERT INTO "edits" VALUES(3,3,'add_row',3,NULL,NULL,NULL);
CREATE TABLE fields (
            table_no INTEGER NOT NULL, field_id INTEGER NOT NULL, position DOUBLE PRECISION NOT NULL,
            spec TEXT NOT NULL, removed BOOLEAN NOT NULL, PRIMARY KEY (table_no, field_id)
        );
INSERT INTO "fields" VALUES(1,1,1.0,'{"name":"Item"}',0);
INSERT INTO "fields" VALUES(1,2,2.0,'{"name":"Price","type":"number"}',0);
INSERT INTO "fields" VALUES(1,3,3.0,'{"name":"Quantity","type":"number"}',0);
INSERT INTO "fields" VALUES(1,4,4.0,'{"name":"Total","type":"number","question":"round({Price} * {Quantity}, 2)","depends_on":["Price","Quantity"]}',0);
INSERT INTO "fields" VALUES(2,1,1.0,'{"name":"Company"}',0);
INSERT INTO "fields" VALUES(3,1,1.0,'{"name":"Statement"}',0);
INSERT INTO "fields" VALUES(3,2,2.0,'{"name":"Section"}',0);
INSERT INTO "fields" VALUES(3,3,3.0,'{"name":"Source","type":"url"}',0);
CREATE TABLE identities (
            issuer TEXT NOT NULL, subject TEXT NOT NULL, user_id TEXT NOT NULL, PRIMARY KEY (issuer, subject)
        );
CREATE TABLE imports (
            table_no INTEGER PRIMARY KEY, path TEXT NOT NULL, content_hash TEXT NOT NULL, reading TEXT NOT NULL,
            at TEXT NOT NULL
        );
INSERT INTO "imports" VALUES(1,'vm:/home/ann/sales.csv','4f40576f86f6c04fe9e15ba9d74c56e3e0007776f30523279b9bfc6afc30e71d','('''', True, None, None, None)','2026-11-18T21:28:48.509928Z');
INSERT INTO "imports" VALUES(2,'vm:/home/ann/towns.csv','4cd91f690b39cdeb4b5ef7f10a3f599970cb8eeab84f384dbf2c4706f3d804ee','('''', True, None, None, None)','2026-11-18T21:28:58.368734Z');
CREATE TABLE kind_rows (
            table_no INTEGER NOT NULL, document_id TEXT NOT NULL, row_id BIGINT NOT NULL, text_hash TEXT NOT NULL,
            PRIMARY KEY (table_no, document_id)
        ) WITHOUT ROWID;
CREATE TABLE kind_tables (
            owner TEXT NOT NULL, kind TEXT NOT NULL, table_no INTEGER NOT NULL, PRIMARY KEY (owner, kind)
        );
CREATE TABLE limits (key TEXT PRIMARY KEY, free_at DOUBLE PRECISION NOT NULL);
CREATE TABLE listings (table_no INTEGER PRIMARY KEY, content TEXT NOT NULL);
CREATE TABLE operations (
            proposal_id TEXT NOT NULL, row_id BIGINT NOT NULL, field TEXT NOT NULL, attempt INTEGER NOT NULL,
            as_of BIGINT NOT NULL, status TEXT NOT NULL, confidence DOUBLE PRECISION NOT NULL, cell TEXT NOT NULL,
            decision TEXT NOT NULL, change BIGINT, steps TEXT NOT NULL, edited TEXT, PRIMARY KEY (proposal_id, row_id, field)
        ) WITHOUT ROWID;
INSERT INTO "operations" VALUES('p638ufmrzv',1,'Founded',1,0,'ENRICHED',0.9875,'{"value":2009,"raw_value":"2009","status":"ENRICHED","confidence":0.9875,"basis":"stated","evidence":[{"origin":"http://www.candlewickpedia.example/wiki/Kestrelworks","title":"Kestrelworks – Candlewick Encyclopedia","quote":"Founded: 2009","start":95,"end":108,"domain":"candlewickpedia.example","retrieved_at":"2026-11-18T21:29:00.420051Z","content_hash":"bffc5379037b6fb86267435c77545abda68348f914b8b6ff9ad594d34137248d"},{"origin":"http://www.kestrelworks.example/about-kestrelworks","title":"About Kestrelworks · Kestrelworks","quote":"Established: 2009","start":221,"end":238,"domain":"kestrelworks.example","retrieved_at":"2026-11-18T21:29:00.440470Z","content_hash":"23504efe7870bd0be692e585783231e0bca7fe7ebfc871fe91f4aaca6213e7f8"}],"cost":0.0,"attempt":1,"run_id":"re4992m6gx","updated_at":"2026-11-18T21:29:00.504528Z"}','open',NULL,'[{"type":"search","detail":"Searched “Kestrelworks Founded year”: 10 results.","data":{"query":"Kestrelworks Founded year","results":10,"pattern":"%entity Founded year"}},{"type":"fetch","detail":"Read “Kestrelworks – Candlewick Encyclopedia” (candlewickpedia.example).","data":{"url":"http://www.candlewickpedia.example/wiki/Kestrelworks"}},{"type":"fetch","detail":"Read “About Kestrelworks · Kestrelworks” (kestrelworks.example).","data":{"url":"http://www.kestrelworks.example/about-kestrelworks"}},{"type":"fetch","detail":"Read “Ten years, and a bird on the roof · Kestrelworks” (kestrelworks.example).","data":{"url":"http://www.kestrelworks.example/blog/ten-years"}},{"type":"fetch","detail":"Read “Rotas that people like · Kestrelworks” (kestrelworks.example).","data":{"url":"http://www.kestrelworks.example/"}},{"type":"thinking","detail":"candlewickpedia.example says 2009: “Founded: 2009”","data":{"url":"http://www.candlewickpedia.example/wiki/Kestrelworks","same_row":"same","doubt":""}},{"type":"thinking","detail":"kestrelworks.example says 2009: “Established: 2009”","data":{"url":"http://www.kestrelworks.example/about-kestrelworks","same_row":"same","doubt":""}},{"type":"coverage","detail":"high: 1 of 1 answered","data":{"rating":"high"}},{"type":"answer","detail":"2009 — candlewickpedia.example: “Founded: 2009”; also from kestrelworks.example"}]',NULL);
INSERT INTO "operations" VALUES('pwh5g885qf',1,'Total',1,0,'ENRICHED',1.0,'{"value":37.5,"raw_value":"37.5","status":"ENRICHED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(12.5 * 3, 2) = 37.5"}],"cost":0.0,"attempt":1,"run_id":"rrk6rqzrb7","updated_at":"2026-11-18T21:28:49.233698Z"}','applied',2,'[{"type":"compute","detail":"round(12.5 * 3, 2) = 37.5"},{"type":"answer","detail":"37.5"}]',NULL);
INSERT INTO "operations" VALUES('pwh5g885qf',2,'Total',1,0,'ENRICHED',1.0,'{"value":8,"raw_value":"8","status":"ENRICHED","confidence":1.0,"basis":"computed","evidence":[{"origin":"formula","quote":"round(4 * 2, 2) = 8"}],"cost":0.0,"attempt":1,"run_id":"rrk6rqzrb7","updated_at":"2026-11-18T21:28:49.233698Z"}','applied',2,'[{"type":"compute","detail":"round(4 * 2, 2) = 8"},{"type":"answer","detail":"8"}]',NULL);
INSERT INTO "operations" VALUES('pwh5g885qf',3,'Total',1,0,'FAILED',0.0,'{"status":"FAILED","reason":"not_applicable","cost":0.0,"attempt":1,"run_id":"rrk6rqzrb7","updated_at":"2026-11-18T21:28:49.233698Z","error":"Price is empty"}','applied',2,'[{"type":"error","detail":"Price is empty"}]',NULL);
CREATE TABLE pages (
            url TEXT NOT NULL, content_hash TEXT NOT NULL, final_url TEXT NOT NULL, title TEXT NOT NULL,
            domain TEXT NOT NULL, retrieved_at TEXT NOT NULL, checked_at TEXT NOT NULL, etag TEXT NOT NULL,
            last_modified TEXT NOT NULL, extra TEXT NOT NULL, PRIMARY KEY (url, content_hash)
        ) WITHOUT ROWID;
CREATE TABLE properties (
            annotation_id BIGINT NOT NULL, position INTEGER NOT NULL, label TEXT NOT NULL, context TEXT NOT NULL,
            begins INTEGER NOT NULL, ends INTEGER NOT NULL, raw TEXT NOT NULL, number DOUBLE PRECISION,
            high DOUBLE PRECISION, unit TEXT NOT NULL, si DOUBLE PRECISION, si_high DOUBLE PRECISION,
            base TEXT NOT NULL, date TEXT NOT NULL, currency TEXT NOT NULL, truth BOOLEAN, ambiguity TEXT NOT NULL,
            PRIMARY KEY (annotation_id, position)
        ) WITHOUT ROWID;
INSERT INTO "properties" VALUES(16777216,0,'Tenant','',15,26,'Ilse Brandt',NULL,NULL,'',NULL,NULL,'','','',NULL,'');
INSERT INTO "properties" VALUES(16777217,0,'Rent','',33,40,'840 EUR',840.0,NULL,'',NULL,NULL,'','','EUR',NULL,'');
CREATE TABLE proposals (
            id TEXT PRIMARY KEY, table_no INTEGER NOT NULL, run_id TEXT NOT NULL, status TEXT NOT NULL,
            reasoning TEXT NOT NULL, fields TEXT NOT NULL, created_at TEXT NOT NULL, decided_at TEXT
        );
INSERT INTO "proposals" VALUES('pwh5g885qf',1,'rrk6rqzrb7','applied','Computation: Total — found 2 of 3 rows','[{"name":"Total","type":"number","question":"round({Price} * {Quantity}, 2)","depends_on":["Price","Quantity"]}]','2026-11-18T21:28:49.274512Z','2026-11-18T21:28:49.501529Z');
INSERT INTO "proposals" VALUES('p638ufmrzv',2,'re4992m6gx','open','Web pipeline: Founded — found 1 of 1 rows','[{"name":"Founded","type":"number","question":"What year was {Company} founded?","depends_on":["Company"]}]','2026-11-18T21:28:59.698909Z',NULL);
CREATE TABLE quotas (
            user_id TEXT NOT NULL, what TEXT NOT NULL, most DOUBLE PRECISION NOT NULL, PRIMARY KEY (user_id, what)
        );
CREATE TABLE requests (
            actor TEXT NOT NULL, key TEXT NOT NULL, route TEXT NOT NULL, answer TEXT NOT NULL, created_at TEXT NOT NULL,
            PRIMARY KEY (actor, key)
        ) WITHOUT ROWID;
CREATE TABLE research_documents (
            document_id TEXT NOT NULL, research_id TEXT NOT NULL, PRIMARY KEY (document_id, research_id)
        ) WITHOUT ROWID;
CREATE TABLE research_rounds (
            research_id TEXT NOT NULL, number INTEGER NOT NULL, content TEXT NOT NULL,
            PRIMARY KEY (research_id, number)
        );
INSERT INTO "research_rounds" VALUES('dw9yvet578',1,'{"index":1,"tasks":[{"id":"r1_1","kind":"discover","search_query":"What does the Lagoon plan of Parrotfish Cloud cost?"}],"notes":[{"task":{"id":"r1_1","kind":"discover","search_query":"What does the Lagoon plan of Parrotfish Cloud cost?"},"sources":[{"url":"http://www.benchquarterly.example/2026/parrotfish-bill","domain":"benchquarterly.example","title":"A bill from Parrotfish Cloud - Bench Quarterly","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"},{"url":"http://www.parrotfish.example/pricing","domain":"parrotfish.example","title":"Plans and prices · Parrotfish Cloud","content_hash":"3974e220abe70d6ce271e3cae3ae8b5aba06cb83f7bda921ddd769cde32926c5"},{"url":"http://www.parrotfish.example/","domain":"parrotfish.example","title":"One endpoint, every model · Parrotfish Cloud","content_hash":"3dd07e54eec02aeb139fb58c62fd840a33bf027a622e2258b70cae110c8758de"},{"url":"http://www.oakwellreasoning.example/fees","domain":"oakwellreasoning.example","title":"What we charge | Oakwell Reasoning","content_hash":"77bc5d9dd7bde001647337d2a2bac2862712b16bc3b97f1cbdc64337911fd4f4"},{"url":"http://www.benchquarterly.example/","domain":"benchquarterly.example","title":"This issue - Bench Quarterly","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"}],"steps":[{"type":"search","detail":"Searched “What does the Lagoon plan of Parrotfish Cloud cost?”: 10 results.","data":{"query":"What does the Lagoon plan of Parrotfish Cloud cost?","results":10}},{"type":"fetch","detail":"Read “A bill from Parrotfish Cloud - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/2026/parrotfish-bill"}},{"type":"fetch","detail":"Read “Plans and prices · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/pricing"}},{"type":"fetch","detail":"Read “One endpoint, every model · Parrotfish Cloud” (parrotfish.example).","data":{"url":"http://www.parrotfish.example/"}},{"type":"fetch","detail":"Read “What we charge | Oakwell Reasoning” (oakwellreasoning.example).","data":{"url":"http://www.oakwellreasoning.example/fees"}},{"type":"fetch","detail":"Read “This issue - Bench Quarterly” (benchquarterly.example).","data":{"url":"http://www.benchquarterly.example/"}}]}],"memo":{"query":"What does the Lagoon plan of Parrotfish Cloud cost?","report_type":"narrative","round_index":1,"tasks_completed":1,"tasks_remaining":14,"unique_citations":2,"unique_domains":1,"pages_extracted":5,"sources_summary":[{"url":"http://www.benchquarterly.example/2026/parrotfish-bill","domain":"benchquarterly.example","title":"A bill from Parrotfish Cloud - Bench Quarterly","has_evidence":true},{"url":"http://www.benchquarterly.example/","domain":"benchquarterly.example","title":"This issue - Bench Quarterly","has_evidence":true},{"url":"http://www.parrotfish.example/pricing","domain":"parrotfish.example","title":"Plans and prices · Parrotfish Cloud"},{"url":"http://www.parrotfish.example/","domain":"parrotfish.example","title":"One endpoint, every model · Parrotfish Cloud"},{"url":"http://www.oakwellreasoning.example/fees","domain":"oakwellreasoning.example","title":"What we charge | Oakwell Reasoning"}]},"kind":"discover","source_notes":[{"number":1,"statement":"The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.","evidence":{"origin":"http://www.benchquarterly.example/2026/parrotfish-bill","title":"A bill from Parrotfish Cloud - Bench Quarterly","quote":"The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.","start":62,"end":204,"domain":"benchquarterly.example","retrieved_at":"2026-11-18T21:29:23.785758Z","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"}},{"number":2,"statement":"In this issue: AI providers compared, a bill from Parrotfish Cloud, and why our own kettle tests moved to another magazine.","evidence":{"origin":"http://www.benchquarterly.example/","title":"This issue - Bench Quarterly","quote":"In this issue: AI providers compared, a bill from Parrotfish Cloud, and why our own kettle tests moved to another magazine.","start":249,"end":372,"domain":"benchquarterly.example","retrieved_at":"2026-11-18T21:29:23.797768Z","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"}},{"number":3,"statement":"A bill from Parrotfish Cloud","evidence":{"origin":"http://www.benchquarterly.example/","title":"This issue - Bench Quarterly","quote":"A bill from Parrotfish Cloud","start":463,"end":491,"domain":"benchquarterly.example","retrieved_at":"2026-11-18T21:29:23.797768Z","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"}}],"usage":{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":1,"fetches":5,"cache_hits":0,"cost_usd":0.0,"seconds":0.249}}');
INSERT INTO "research_rounds" VALUES('dw9yvet578',2,'{"index":2,"tasks":[],"notes":[],"memo":{"query":"What does the Lagoon plan of Parrotfish Cloud cost?","report_type":"narrative","round_index":2,"tasks_completed":1,"tasks_remaining":14,"unique_citations":2,"unique_domains":1,"pages_extracted":5,"sources_summary":[{"url":"http://www.benchquarterly.example/2026/parrotfish-bill","domain":"benchquarterly.example","title":"A bill from Parrotfish Cloud - Bench Quarterly","has_evidence":true},{"url":"http://www.benchquarterly.example/","domain":"benchquarterly.example","title":"This issue - Bench Quarterly","has_evidence":true},{"url":"http://www.parrotfish.example/pricing","domain":"parrotfish.example","title":"Plans and prices · Parrotfish Cloud"},{"url":"http://www.parrotfish.example/","domain":"parrotfish.example","title":"One endpoint, every model · Parrotfish Cloud"},{"url":"http://www.oakwellreasoning.example/fees","domain":"oakwellreasoning.example","title":"What we charge | Oakwell Reasoning"}]},"kind":"fill","usage":{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":0,"fetches":0,"cache_hits":0,"cost_usd":0.0,"seconds":0.0},"ended":"a model is needed to see what is missing"}');
INSERT INTO "research_rounds" VALUES('dw9yvet578',3,'{"index":3,"tasks":[],"notes":[],"memo":{"query":"What does the Lagoon plan of Parrotfish Cloud cost?","report_type":"narrative","round_index":3,"tasks_completed":1,"tasks_remaining":14,"unique_citations":2,"unique_domains":1,"pages_extracted":5,"sources_summary":[{"url":"http://www.benchquarterly.example/2026/parrotfish-bill","domain":"benchquarterly.example","title":"A bill from Parrotfish Cloud - Bench Quarterly","has_evidence":true},{"url":"http://www.benchquarterly.example/","domain":"benchquarterly.example","title":"This issue - Bench Quarterly","has_evidence":true},{"url":"http://www.parrotfish.example/pricing","domain":"parrotfish.example","title":"Plans and prices · Parrotfish Cloud"},{"url":"http://www.parrotfish.example/","domain":"parrotfish.example","title":"One endpoint, every model · Parrotfish Cloud"},{"url":"http://www.oakwellreasoning.example/fees","domain":"oakwellreasoning.example","title":"What we charge | Oakwell Reasoning"}]},"kind":"verify","usage":{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":0,"fetches":0,"cache_hits":0,"cost_usd":0.0,"seconds":0.0},"ended":"a model is needed to check claims"}');
CREATE TABLE researches (
            id TEXT PRIMARY KEY, question TEXT NOT NULL, brief TEXT NOT NULL, status TEXT NOT NULL,
            table_id TEXT NOT NULL, max_tasks INTEGER NOT NULL, report TEXT, answered TEXT NOT NULL,
            created_at TEXT NOT NULL, updated_at TEXT NOT NULL
        );
INSERT INTO "researches" VALUES('dw9yvet578','What does the Lagoon plan of Parrotfish Cloud cost?','{"question":"What does the Lagoon plan of Parrotfish Cloud cost?","report_type":"narrative","queries":["What does the Lagoon plan of Parrotfish Cloud cost?"],"today":"2026-11-18","usage":{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":0,"fetches":0,"cache_hits":0,"cost_usd":0.0,"seconds":0.0}}','done','what-does-the-lagoon-plan-of-parrotfish',15,'{"title":"What does the Lagoon plan of Parrotfish Cloud cost","question":"What does the Lagoon plan of Parrotfish Cloud cost?","report_type":"narrative","sections":[{"heading":"Excerpts","sentences":[{"text":"The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49.","citations":[1]},{"text":"In this issue: AI providers compared, a bill from Parrotfish Cloud, and why our own kettle tests moved to another magazine.","citations":[2]},{"text":"A bill from Parrotfish Cloud","citations":[2]}]}],"references":[{"number":1,"url":"http://www.benchquarterly.example/2026/parrotfish-bill","title":"A bill from Parrotfish Cloud - Bench Quarterly","domain":"benchquarterly.example","quotes":["The Lagoon plan of Parrotfish Cloud costs $59 per month since the middle of June, says the bill that we got; its web page still speaks of $49."],"retrieved_at":"2026-11-18T21:29:23.785758Z","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"},{"number":2,"url":"http://www.benchquarterly.example/","title":"This issue - Bench Quarterly","domain":"benchquarterly.example","quotes":["In this issue: AI providers compared, a bill from Parrotfish Cloud, and why our own kettle tests moved to another magazine.","A bill from Parrotfish Cloud"],"retrieved_at":"2026-11-18T21:29:23.797768Z","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"}],"sources":[{"url":"http://www.benchquarterly.example/2026/parrotfish-bill","domain":"benchquarterly.example","title":"A bill from Parrotfish Cloud - Bench Quarterly","content_hash":"59cc619f23e14d19588f38a777d7fd2b1275a1f0662e698cc9e2539100d19178"},{"url":"http://www.parrotfish.example/pricing","domain":"parrotfish.example","title":"Plans and prices · Parrotfish Cloud","content_hash":"3974e220abe70d6ce271e3cae3ae8b5aba06cb83f7bda921ddd769cde32926c5"},{"url":"http://www.parrotfish.example/","domain":"parrotfish.example","title":"One endpoint, every model · Parrotfish Cloud","content_hash":"3dd07e54eec02aeb139fb58c62fd840a33bf027a622e2258b70cae110c8758de"},{"url":"http://www.oakwellreasoning.example/fees","domain":"oakwellreasoning.example","title":"What we charge | Oakwell Reasoning","content_hash":"77bc5d9dd7bde001647337d2a2bac2862712b16bc3b97f1cbdc64337911fd4f4"},{"url":"http://www.benchquarterly.example/","domain":"benchquarterly.example","title":"This issue - Bench Quarterly","content_hash":"af0f6050401a25b0ce3251a0546fbe6872ef36b61595791bebf691b5350a931f"}],"rounds":[{"index":1,"name":"discovery","tasks":["What does the Lagoon plan of Parrotfish Cloud cost?"]},{"index":2,"name":"gap-filling","stopped":"a model is needed to see what is missing"},{"index":3,"name":"verification","stopped":"a model is needed to check claims"}],"notes":["Only 1 site speaks in this report; 3 at least were looked for."],"unread":true,"usage":{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":1,"fetches":5,"cache_hits":0,"cost_usd":0.0,"seconds":0.254},"created_at":"2026-11-18T21:29:23.892811Z"}','[]','2026-11-18T21:29:23.511839Z','2026-11-18T21:29:23.893113Z');
CREATE TABLE result_rows (
            result_id TEXT NOT NULL, position INTEGER NOT NULL, document_id TEXT NOT NULL, page INTEGER,
            begins INTEGER NOT NULL, ends INTEGER NOT NULL, verdict TEXT NOT NULL, content TEXT NOT NULL,
            PRIMARY KEY (result_id, position)
        ) WITHOUT ROWID;
CREATE TABLE results (
            id TEXT PRIMARY KEY, question TEXT NOT NULL, columns TEXT NOT NULL, created_at TEXT NOT NULL
        );
CREATE TABLE rows (
            table_no INTEGER NOT NULL, row_id BIGINT NOT NULL, key TEXT NOT NULL, given TEXT NOT NULL,
            removed BOOLEAN NOT NULL, PRIMARY KEY (table_no, row_id)
        ) WITHOUT ROWID;
INSERT INTO "rows" VALUES(1,1,'pen','[{"1":"Pen","2":12.5,"3":3},{"2":"12.50"}]',0);
INSERT INTO "rows" VALUES(1,2,'ink','[{"1":"Ink","2":4,"3":2},{}]',0);
INSERT INTO "rows" VALUES(1,3,'cap','[{"1":"Cap","3":4},{}]',0);
INSERT INTO "rows" VALUES(2,1,'kestrelworks','[{"1":"Kestrelworks"},{}]',0);
INSERT INTO "rows" VALUES(3,1,'lagoon plan of parrotfish cloud costs 59 per month since the middle of june says the bill that we got its web page still speaks of 49','[{"3":"http://www.benchquarterly.example/2026/parrotfish-bill"},{}]',0);
INSERT INTO "rows" VALUES(3,2,'in this issue ai providers compared a bill from parrotfish cloud and why our own kettle tests moved to another magazine','[{"3":"http://www.benchquarterly.example/"},{}]',0);
INSERT INTO "rows" VALUES(3,3,'a bill from parrotfish cloud','[{"3":"http://www.benchquarterly.example/"},{}]',0);
CREATE TABLE run_events (
            run_id TEXT NOT NULL, number BIGINT NOT NULL, at TEXT NOT NULL, event TEXT NOT NULL,
            PRIMARY KEY (run_id, number)
        ) WITHOUT ROWID;
CREATE TABLE run_slices (
            run_id TEXT NOT NULL, number INTEGER NOT NULL, todo TEXT NOT NULL, owner TEXT NOT NULL, done TEXT NOT NULL,
            finished BOOLEAN NOT NULL, tally TEXT NOT NULL, usage TEXT NOT NULL, setbacks INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (run_id, number)
        ) WITHOUT ROWID;
INSERT INTO "run_slices" VALUES('re4992m6gx',1,'{"row_ids":[1]}','vm-25902-e38bb1/sdj5u2s24d','[1]',1,'{"rows":1,"found":1,"empty":0,"skipped":0,"left":0,"unasked":0,"bought_rows":1,"bought_cells":1,"degraded":0,"incomplete":0,"skipped_rows":[],"cause":""}','{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":1,"fetches":6,"cache_hits":0,"cost_usd":0.0,"seconds":0.0}',0);
CREATE TABLE runs (
            id TEXT PRIMARY KEY, table_no INTEGER NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL,
            spec TEXT NOT NULL, started_at TEXT NOT NULL, finished_at TEXT, usage TEXT NOT NULL, error TEXT
        , owner TEXT NOT NULL DEFAULT '', stop TEXT NOT NULL DEFAULT '', total BIGINT NOT NULL DEFAULT 0, done BIGINT NOT NULL DEFAULT 0, last_event BIGINT NOT NULL DEFAULT 0, person TEXT NOT NULL DEFAULT '');
INSERT INTO "runs" VALUES('rrk6rqzrb7',1,'enrich','done','{"strategy":"computation","params":{},"model":"","strong":"","cascade":false,"attempts":3,"fields":["Total"],"concurrency":10,"again":false,"max_rows":null,"examples":{},"rows":0,"cells":0,"tally":{"rows":3,"found":2,"empty":1,"skipped":0,"left":0,"unasked":0,"bought_rows":0,"bought_cells":0,"degraded":0,"incomplete":0,"skipped_rows":[],"cause":""}}','2026-11-18T21:28:49.253696Z','2026-11-18T21:28:49.348926Z','{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":0,"fetches":0,"cache_hits":0,"cost_usd":0.0,"seconds":0.069}',NULL,'vm-25343-here','',0,0,0,'');
INSERT INTO "runs" VALUES('re4992m6gx',2,'enrich','done','{"strategy":"pipeline","params":{"rows_a_call":"8"},"model":"","strong":"","cascade":false,"attempts":3,"fields":["Founded"],"concurrency":8,"again":false,"max_rows":null,"examples":{},"settings":{"model":"builtin","model_strong":"","model_base_url":"","model_fallback":"","model_requests_per_minute":"","model_tokens_per_minute":"","model_concurrency":"","model_window":"","model_timeout":"","search":"sample","sources":"web","search_language":"","search_price":"","search_requests_per_second":"","embedder":"wordllama","embedder_base_url":"","fetch_allow":"","fetch_delay":"0","fetch_robots":"yes","evidence":"judged","cascade":"no","attempts":"3","threshold":"0.6","require_improvement":"yes","documents_unasked":"60","shortlist_products":"30","shortlist_queries":"12","shortlist_seconds":"300","shortlist_search_seconds":"30","shortlist_retries":"0","research_searches":"15","research_first_searches":"5","research_checking_searches":"2","research_pages":"5","research_rounds":"3","research_claims":"3","research_sites":"3","research_memo_tokens":"2000","research_items":"5","rates":"","offline":"no","pause_after":"5","budget":"","budget_tokens":"","quota_uploads":"","quota_rows":"","quota_disk":"","quota_dollars":"","concurrency":""},"retry":{"threshold":0.6},"rows":1,"cells":1,"tally":{"rows":1,"found":1,"empty":0,"skipped":0,"left":0,"unasked":0,"bought_rows":1,"bought_cells":1,"degraded":0,"incomplete":0,"skipped_rows":[],"cause":""}}','2026-11-18T21:28:59.697893Z','2026-11-18T21:29:01.364015Z','{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":1,"fetches":6,"cache_hits":0,"cost_usd":0.0,"seconds":1.665}',NULL,'vm-25902-e38bb1','',1,1,4,'');
INSERT INTO "runs" VALUES('rscv4tb3hz',0,'ingest','done','{}','2026-11-18T21:29:07.940034Z','2026-11-18T21:29:10.169910Z','{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":0,"fetches":0,"cache_hits":0,"cost_usd":0.0,"seconds":2.217}',NULL,'vm-26468-c2aea4','',1,1,2,'');
INSERT INTO "runs" VALUES('r2vsxtg29k',3,'research','done','{"research":"dw9yvet578","minutes":null,"question":"What does the Lagoon plan of Parrotfish Cloud cost?","actor":"ann","holder":"vm-27343-c6e104/hemm4umf3b","setbacks":0}','2026-11-18T21:29:23.576757Z','2026-11-18T21:29:23.903018Z','{"llm_calls":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"searches":1,"fetches":5,"cache_hits":0,"cost_usd":0.0,"seconds":0.312}',NULL,'vm-27343-c6e104','',0,0,9,'');
CREATE TABLE scheduled (table_id TEXT PRIMARY KEY);
CREATE TABLE schema_version (version INTEGER NOT NULL);
INSERT INTO "schema_version" VALUES(1);
INSERT INTO "schema_version" VALUES(2);
INSERT INTO "schema_version" VALUES(3);
INSERT INTO "schema_version" VALUES(4);
INSERT INTO "schema_version" VALUES(5);
INSERT INTO "schema_version" VALUES(6);
INSERT INTO "schema_version" VALUES(7);
INSERT INTO "schema_version" VALUES(8);
INSERT INTO "schema_version" VALUES(9);
INSERT INTO "schema_version" VALUES(10);
INSERT INTO "schema_version" VALUES(11);
INSERT INTO "schema_version" VALUES(12);
INSERT INTO "schema_version" VALUES(13);
INSERT INTO "schema_version" VALUES(14);
INSERT INTO "schema_version" VALUES(15);
INSERT INTO "schema_version" VALUES(16);
INSERT INTO "schema_version" VALUES(17);
INSERT INTO "schema_version" VALUES(18);
CREATE TABLE segments (
            id INTEGER PRIMARY KEY, begins INTEGER NOT NULL, ends INTEGER NOT NULL, page INTEGER,
            heading TEXT NOT NULL, text TEXT NOT NULL
        );
INSERT INTO "segments" VALUES(16777216,0,40,NULL,'','Lease

Tenant: Ilse Brandt
Rent: 840 EUR');
CREATE TABLE shares (
            kind TEXT NOT NULL, thing_id TEXT NOT NULL, user_id TEXT NOT NULL, owns BOOLEAN NOT NULL,
            PRIMARY KEY (kind, thing_id, user_id)
        ) WITHOUT ROWID;
INSERT INTO "shares" VALUES('table','sales','uxf3qzz57n',0);
CREATE TABLE shortlists (
            id TEXT PRIMARY KEY, table_id TEXT NOT NULL, state TEXT NOT NULL, created_at TEXT NOT NULL,
            updated_at TEXT NOT NULL
        );
CREATE TABLE spent (
            user_id TEXT NOT NULL, month TEXT NOT NULL, what TEXT NOT NULL, amount DOUBLE PRECISION NOT NULL,
            PRIMARY KEY (user_id, month, what)
        );
CREATE TABLE summaries (
            id INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL, text TEXT NOT NULL
        );
INSERT INTO "summaries" VALUES(16777216,0,0,'Lease Tenant: Ilse Brandt Rent: 840 EUR');
CREATE TABLE table_ids (id TEXT PRIMARY KEY);
INSERT INTO "table_ids" VALUES('sales');
INSERT INTO "table_ids" VALUES('towns');
INSERT INTO "table_ids" VALUES('what-does-the-lagoon-plan-of-parrotfish');
CREATE TABLE tables (
            no INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, key_field TEXT NOT NULL, created_at TEXT NOT NULL,
            last_row BIGINT NOT NULL, last_field INTEGER NOT NULL, last_change BIGINT NOT NULL, last_seq BIGINT NOT NULL
        , tags TEXT NOT NULL DEFAULT '[]');
INSERT INTO "tables" VALUES(1,'sales','sales','Item','2026-11-18T21:28:48.496281Z',3,4,4,6,'[]');
INSERT INTO "tables" VALUES(2,'towns','towns','Company','2026-11-18T21:28:58.299483Z',1,1,1,0,'[]');
INSERT INTO "tables" VALUES(3,'what-does-the-lagoon-plan-of-parrotfish','What does the Lagoon plan of Parrotfish Cloud cost','Statement','2026-11-18T21:29:23.503251Z',3,3,2,3,'[]');
CREATE TABLE texts (
            content_hash TEXT PRIMARY KEY, text BLOB NOT NULL
        ) WITHOUT ROWID;
INSERT INTO "texts" VALUES('06fec15942e405aaf566ea3006319d01ad462d5f9f0e97eba9c3d79646762f77',X'789CF3494D2C4EE5E20A49CD4BCC2BB152F0CC294E55702A4ACC4B29E10A4A058958981828B8860671010015EE0C7A');
CREATE TABLE tokens (
            id TEXT PRIMARY KEY, user_id TEXT NOT NULL, name TEXT NOT NULL, hash TEXT NOT NULL UNIQUE,
            scopes TEXT NOT NULL, created_at TEXT NOT NULL, expires_at TEXT NOT NULL, last_used_at TEXT NOT NULL
        );
INSERT INTO "tokens" VALUES('kmqnky87uk','uxf3qzz57n','','dd9d3cba81cd764fa67d2406beb79ac9421783d491a14ba5985aa0c227072274','read write run admin','2026-11-18T21:29:28.108656Z','2027-02-16T21:29:28Z','');
CREATE TABLE turn_documents (
            document_id TEXT NOT NULL, conversation_id TEXT NOT NULL, number INTEGER NOT NULL,
            PRIMARY KEY (document_id, conversation_id, number)
        ) WITHOUT ROWID;
INSERT INTO "turn_documents" VALUES('doc_v47ed3zzj','ca4g9djt9t',1);
CREATE TABLE turns (
            conversation_id TEXT NOT NULL, number INTEGER NOT NULL, turn TEXT NOT NULL,
            PRIMARY KEY (conversation_id, number)
        );
INSERT INTO "turns" VALUES('ca4g9djt9t',1,'{"question":"Who is the tenant?","answer":"Without a model this cannot be answered. Not understood: “Who”. 1 passage matches the question''s words.","route":"passages","reason":"Who is the tenant?","attempts":["search_text + search_vector(segment)(Who is the tenant?): 1"],"documents":["doc_v47ed3zzj"],"segments":[16777216],"completeness":"incomplete","plan":"{\"question\":\"Who is the tenant?\",\"language\":\"\",\"action\":\"text\",\"say\":\"\",\"path\":\"\",\"queries\":[\"Who is the tenant?\"],\"of\":[],\"columns\":[],\"conditions\":[],\"aggregate\":\"\",\"aggregate_column\":\"\",\"group_by\":\"\",\"period\":\"\",\"order_by\":\"\",\"descending\":false,\"limit\":0,\"unit_column\":\"\",\"sentence\":\"\",\"compare\":false}","at":"2026-11-18T21:29:16.960444Z"}');
CREATE TABLE "users" (
            id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, role TEXT NOT NULL, created_at TEXT NOT NULL
        );
INSERT INTO "users" VALUES('uxf3qzz57n','bob','editor','2026-11-18T21:29:28.107524Z');
CREATE TABLE vectors (
            document_no INTEGER NOT NULL, target TEXT NOT NULL, embedder TEXT NOT NULL, dimensions INTEGER NOT NULL,
            matrix BLOB NOT NULL, PRIMARY KEY (document_no, target)
        );
CREATE TABLE views (
            table_no INTEGER NOT NULL, name TEXT NOT NULL, person TEXT NOT NULL, content TEXT NOT NULL,
            PRIMARY KEY (table_no, name, person)
        );
CREATE TABLE words (
            document_no INTEGER PRIMARY KEY, postings BLOB NOT NULL, lengths BLOB NOT NULL
        );
INSERT INTO "words" VALUES(1,X'020000000CE442AB0100000062C4594E01000000902D03B80100000097D1C6E001000000CC4D78020100000061AECA48010000007A4D1E5D',X'08000000');
CREATE TABLE workers (
            id TEXT PRIMARY KEY, kind TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, started_at TEXT NOT NULL,
            beat DOUBLE PRECISION NOT NULL
        );
CREATE INDEX edits_by_cell ON edits (table_no, row_id, field_id, seq);
CREATE INDEX runs_by_table ON runs (table_no, started_at);
CREATE INDEX proposals_by_table ON proposals (table_no, created_at);
CREATE INDEX documents_by_name ON documents (name);
CREATE INDEX document_texts_by_hash ON document_texts (content_hash);
CREATE INDEX properties_by_label ON properties (label, context);
CREATE INDEX result_rows_by_document ON result_rows (document_id);
CREATE INDEX runs_by_status ON runs (status, started_at);
CREATE INDEX imports_by_path ON imports (path);
CREATE INDEX shares_by_user ON shares (user_id, kind, thing_id);
CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit
                BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
                BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
CREATE TRIGGER audit_no_replace BEFORE INSERT ON audit
            WHEN EXISTS (SELECT 1 FROM audit WHERE no = NEW.no)
            BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
CREATE INDEX tokens_by_user ON tokens (user_id);
CREATE INDEX kind_rows_by_document ON kind_rows (document_id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('tables',3);
INSERT INTO "sqlite_sequence" VALUES('documents',1);
INSERT INTO "sqlite_sequence" VALUES('audit',2);
COMMIT;
