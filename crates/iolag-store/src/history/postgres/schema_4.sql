-- Version 4 of the history in PostgreSQL; sqlite/schema_4.sql has the same tables. Outages are of targets, and a target may get another name.

ALTER TABLE outage ADD COLUMN kind text COLLATE "C" NOT NULL DEFAULT 'no-answer';

-- The targets that lie on the mount of an outage. Of older outages nobody has said which; then it is that of the probe's samples.
CREATE TABLE outage_target (
    host   text COLLATE "C" NOT NULL,
    probe  bigint NOT NULL,
    target text COLLATE "C" NOT NULL,
    PRIMARY KEY (host, probe, target)
);

CREATE TABLE rename (
    host     text COLLATE "C" NOT NULL,
    old_name text COLLATE "C" NOT NULL,
    made_ns  bigint NOT NULL,
    new_name text COLLATE "C" NOT NULL,
    author   text COLLATE "C" NOT NULL,
    PRIMARY KEY (host, old_name, made_ns)
);
