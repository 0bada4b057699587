-- Version 4 of the history in SQLite; postgres/schema_4.sql has the same tables. Outages are of targets, and a target may get another name.

ALTER TABLE outage ADD COLUMN kind TEXT NOT NULL DEFAULT 'no-answer';

-- The targets that lie on the mount of an outage. Of older outages nobody has said which; then it is that of the probe's samples.
CREATE TABLE outage_target (
    host   TEXT NOT NULL,
    probe  INTEGER NOT NULL,
    target TEXT NOT NULL,
    PRIMARY KEY (host, probe, target)
) STRICT, WITHOUT ROWID;

CREATE TABLE rename (
    host     TEXT NOT NULL,
    old_name TEXT NOT NULL,
    made_ns  INTEGER NOT NULL,
    new_name TEXT NOT NULL,
    author   TEXT NOT NULL,
    PRIMARY KEY (host, old_name, made_ns)
) STRICT, WITHOUT ROWID;
