-- What the tables of version 3 look like to who reads version 4, for connections that may not bring them up to date: outages of which nobody
-- has said whose they are, no other names. TABLES stands for the schema that has the tables.

CREATE TEMP VIEW outage AS
SELECT *, 'no-answer' AS kind FROM TABLES.outage;

CREATE TEMP VIEW outage_target AS
SELECT host, probe, mount AS target FROM TABLES.outage WHERE 1 = 0;

CREATE TEMP VIEW rename AS
SELECT host, mount AS old_name, begin_ns AS made_ns, mount AS new_name, mount AS author FROM TABLES.outage WHERE 1 = 0;
