-- Version 1 of the history in SQLite; postgres/schema_1.sql has the same tables. Times are ns since 1970-01-01 UTC.

CREATE TABLE series (
    id            INTEGER PRIMARY KEY,
    host          TEXT NOT NULL,
    target        TEXT NOT NULL,
    task          TEXT NOT NULL,
    part          TEXT NOT NULL,
    kind          TEXT,
    resolution_ns INTEGER NOT NULL DEFAULT 0,
    period_ns     INTEGER NOT NULL DEFAULT 0,
    deadline_ns   INTEGER NOT NULL DEFAULT 0,
    description   TEXT NOT NULL DEFAULT '',
    unit          TEXT NOT NULL DEFAULT '',
    described_ns  INTEGER,
    UNIQUE (host, target, task, part)
) STRICT;

CREATE TABLE configuration_key (
    id  INTEGER PRIMARY KEY,
    key INTEGER NOT NULL UNIQUE
) STRICT;

CREATE TABLE configuration (
    host          TEXT NOT NULL,
    target        TEXT NOT NULL,
    configuration INTEGER NOT NULL REFERENCES configuration_key (id),
    first_seen_ns INTEGER NOT NULL,
    facts         TEXT NOT NULL,
    PRIMARY KEY (host, target, configuration)
) STRICT, WITHOUT ROWID;

CREATE TABLE outcome (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL
) STRICT;

INSERT INTO outcome (id, name)
VALUES (0, 'ok'), (1, 'error'), (2, 'timeout'), (3, 'hung'), (4, 'late'), (5, 'skipped');

-- The change is the row's place in the order of changes: a sample that is superseded moves to the end.
CREATE TABLE sample (
    change                 INTEGER PRIMARY KEY,
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
    UNIQUE (series, probe)
) STRICT;

CREATE INDEX sample_by_time ON sample (series, intended_ns);

CREATE TABLE event (
    id       TEXT PRIMARY KEY,
    begin_ns INTEGER NOT NULL,
    end_ns   INTEGER,
    host     TEXT NOT NULL,
    target   TEXT NOT NULL,
    source   TEXT NOT NULL,
    kind     TEXT NOT NULL,
    text     TEXT NOT NULL,
    link     TEXT,
    author   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX event_by_time ON event (begin_ns);

CREATE TABLE outage (
    host     TEXT NOT NULL,
    probe    INTEGER NOT NULL,
    mount    TEXT NOT NULL,
    begin_ns INTEGER NOT NULL,
    end_ns   INTEGER,
    ending   TEXT,
    skipped  INTEGER NOT NULL,
    PRIMARY KEY (host, probe)
) STRICT, WITHOUT ROWID;

CREATE TABLE evidence (
    host  TEXT NOT NULL,
    probe INTEGER NOT NULL,
    at_ns INTEGER NOT NULL,
    text  TEXT NOT NULL,
    PRIMARY KEY (host, probe, at_ns)
) STRICT;

CREATE TABLE session (
    host          TEXT NOT NULL,
    begin_ns      INTEGER NOT NULL,
    boot_id       TEXT NOT NULL,
    last_seen_ns  INTEGER NOT NULL,
    stopped       INTEGER NOT NULL,
    iolag_version TEXT NOT NULL,
    PRIMARY KEY (host, begin_ns)
) STRICT, WITHOUT ROWID;

-- For people: one line per sample, times in seconds.
CREATE VIEW samples AS
SELECT series.host, series.target, series.task, series.part,
       datetime(sample.intended_ns / 1000000000, 'unixepoch') AS intended_utc,
       sample.intended_ns / 1e9                               AS intended_s,
       sample.lag_ns / 1e9                                    AS lag_s,
       sample.duration_ns / 1e9                               AS duration_s,
       outcome.name                                           AS outcome,
       sample.outcome IN (2, 3, 5)                            AS censored,
       sample.failure, sample.exit_status, sample.value,
       (sample.user_ns + sample.system_ns) / 1e9              AS processor_s,
       sample.load_5min_milli / 1e3                           AS load_5min,
       sample.runnable, sample.blocked,
       sample.stalled_io_some_us / 1e6                        AS stalled_io_s,
       sample.probe, sample.blocker, sample.configuration
FROM sample
JOIN series ON series.id = sample.series
LEFT JOIN outcome ON outcome.id = sample.outcome;
