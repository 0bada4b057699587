-- Version 3 of the history in SQLite; postgres/schema_3.sql has the same tables. Every import is a batch, which can be taken back, and what was
-- noted can be corrected. What earlier versions imported has no batch (0).

CREATE TABLE batch (
    id        INTEGER PRIMARY KEY,
    made_ns   INTEGER,
    file      TEXT NOT NULL DEFAULT '',
    hash      TEXT NOT NULL DEFAULT '',
    options   TEXT NOT NULL DEFAULT '',
    author    TEXT NOT NULL DEFAULT '',
    undone_ns INTEGER
) STRICT;

ALTER TABLE sample ADD COLUMN batch INTEGER NOT NULL DEFAULT 0;

CREATE INDEX sample_by_batch ON sample (batch) WHERE batch <> 0;

-- Samples that do not count, since a greater batch has the same probe, or their batch was undone.
CREATE TABLE sample_beside (
    change                 INTEGER NOT NULL,
    series                 INTEGER NOT NULL REFERENCES series (id),
    probe                  INTEGER NOT NULL,
    intended_ns            INTEGER NOT NULL,
    lag_ns                 INTEGER NOT NULL,
    duration_ns            INTEGER NOT NULL,
    outcome                INTEGER NOT NULL,
    failure                INTEGER NOT NULL,
    value                  REAL,
    exit_status            INTEGER,
    blocker                INTEGER,
    configuration          INTEGER REFERENCES configuration_key (id),
    user_ns                INTEGER,
    system_ns              INTEGER,
    resident_bytes_max     INTEGER,
    load_1min_milli        INTEGER,
    load_5min_milli        INTEGER,
    load_15min_milli       INTEGER,
    runnable               INTEGER,
    blocked                INTEGER,
    stalled_cpu_us         INTEGER,
    stalled_io_some_us     INTEGER,
    stalled_io_full_us     INTEGER,
    stalled_memory_some_us INTEGER,
    stalled_memory_full_us INTEGER,
    batch                  INTEGER NOT NULL,
    PRIMARY KEY (series, probe, batch)
) STRICT, WITHOUT ROWID;

CREATE INDEX sample_beside_by_batch ON sample_beside (batch);
CREATE INDEX sample_beside_by_change ON sample_beside (change);

ALTER TABLE event ADD COLUMN revised_ns INTEGER;
ALTER TABLE event ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;

-- The imports that brought an event; 0 for none.
CREATE TABLE event_batch (
    event TEXT NOT NULL,
    batch INTEGER NOT NULL,
    PRIMARY KEY (event, batch)
) STRICT, WITHOUT ROWID;

INSERT INTO event_batch (event, batch)
SELECT id, 0 FROM event;

DROP VIEW samples;

-- For people: one line per sample, times in seconds.
CREATE VIEW samples AS
SELECT series.host, series.target, series.task, series.part,
       datetime(sample.intended_ns / 1000000000, 'unixepoch') AS intended_utc,
       sample.intended_ns / 1e9                               AS intended_s,
       sample.lag_ns / 1e9                                    AS lag_s,
       sample.duration_ns / 1e9                               AS duration_s,
       outcome.name                                           AS outcome,
       sample.outcome IN (2, 3, 5, 6)                         AS censored,
       sample.failure, sample.exit_status, sample.value,
       (sample.user_ns + sample.system_ns) / 1e9              AS processor_s,
       sample.load_5min_milli / 1e3                           AS load_5min,
       sample.runnable, sample.blocked,
       sample.stalled_io_some_us / 1e6                        AS stalled_io_s,
       sample.probe, sample.blocker, sample.configuration,
       nullif(sample.batch, 0)                                AS batch
FROM sample
JOIN series ON series.id = sample.series
LEFT JOIN outcome ON outcome.id = sample.outcome;
