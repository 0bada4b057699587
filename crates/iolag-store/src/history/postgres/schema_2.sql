-- Version 2 of the history in PostgreSQL; sqlite/schema_2.sql has the same. What a watch broke off when it was told to stop has an outcome of its own. Until
-- then such samples, and no others, were time-outs (2) with the failure "abandoned" (0xf005).

INSERT INTO outcome (id, name)
VALUES (6, 'interrupted');

UPDATE sample SET outcome = 6, failure = 0 WHERE outcome = 2 AND failure = 61445;

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
       sample.probe, sample.blocker, sample.configuration
FROM sample
JOIN series ON series.id = sample.series
LEFT JOIN outcome ON outcome.id = sample.outcome;
