-- What the tables of version 2 look like to who reads version 3, for connections that may not bring them up to date: no imports, no
-- corrections. TABLES stands for the schema that has the tables. Both databases look for temporary views first.

CREATE TEMP VIEW batch AS
SELECT CAST(0 AS bigint) AS id, CAST(NULL AS bigint) AS made_ns, '' AS file, '' AS hash, '' AS options, '' AS author,
       CAST(NULL AS bigint) AS undone_ns
WHERE 1 = 0;

CREATE TEMP VIEW sample AS
SELECT *, CAST(0 AS bigint) AS batch FROM TABLES.sample;

CREATE TEMP VIEW sample_beside AS
SELECT *, CAST(0 AS bigint) AS batch FROM TABLES.sample WHERE 1 = 0;

CREATE TEMP VIEW event AS
SELECT *, CAST(NULL AS bigint) AS revised_ns, CAST(0 AS bigint) AS removed FROM TABLES.event;

CREATE TEMP VIEW event_batch AS
SELECT id AS event, CAST(0 AS bigint) AS batch FROM TABLES.event;
