-- Version 3 of the history in PostgreSQL; sqlite/schema_3.sql has the same tables. Every import is a batch, which can be taken back, and what was
-- noted can be corrected. What earlier versions imported has no batch (0).

CREATE TABLE batch (
    id        bigint PRIMARY KEY,
    made_ns   bigint,
    file      text COLLATE "C" NOT NULL DEFAULT '',
    hash      text COLLATE "C" NOT NULL DEFAULT '',
    options   text COLLATE "C" NOT NULL DEFAULT '',
    author    text COLLATE "C" NOT NULL DEFAULT '',
    undone_ns bigint
);

ALTER TABLE sample ADD COLUMN batch bigint NOT NULL DEFAULT 0;

CREATE INDEX sample_by_batch ON sample (batch) WHERE batch <> 0;

-- Samples that do not count, since a greater batch has the same probe, or their batch was undone.
CREATE TABLE sample_beside (
    change                 bigint NOT NULL,
    series                 bigint NOT NULL REFERENCES series (id),
    probe                  bigint NOT NULL,
    intended_ns            bigint NOT NULL,
    lag_ns                 bigint NOT NULL,
    duration_ns            bigint NOT NULL,
    outcome                smallint NOT NULL,
    failure                integer NOT NULL,
    value                  double precision,
    exit_status            integer,
    blocker                bigint,
    configuration          bigint REFERENCES configuration_key (id),
    user_ns                bigint,
    system_ns              bigint,
    resident_bytes_max     bigint,
    load_1min_milli        bigint,
    load_5min_milli        bigint,
    load_15min_milli       bigint,
    runnable               bigint,
    blocked                bigint,
    stalled_cpu_us         bigint,
    stalled_io_some_us     bigint,
    stalled_io_full_us     bigint,
    stalled_memory_some_us bigint,
    stalled_memory_full_us bigint,
    batch                  bigint NOT NULL,
    PRIMARY KEY (series, probe, batch)
);

CREATE INDEX sample_beside_by_batch ON sample_beside (batch);
CREATE INDEX sample_beside_by_change ON sample_beside (change);

ALTER TABLE event ADD COLUMN revised_ns bigint;
ALTER TABLE event ADD COLUMN removed bigint NOT NULL DEFAULT 0;

-- The imports that brought an event; 0 for none.
CREATE TABLE event_batch (
    event text COLLATE "C" NOT NULL,
    batch bigint NOT NULL,
    PRIMARY KEY (event, batch)
);

INSERT INTO event_batch (event, batch)
SELECT id, 0 FROM event;

-- For people: one line per sample, times in seconds.
CREATE OR REPLACE VIEW samples AS
SELECT series.host, series.target, series.task, series.part,
       to_timestamp(sample.intended_ns / 1e9)                 AS intended,
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
