#!/usr/bin/env python3
"""Computes runs.tsv, series.tsv and medians.tsv from what lies beside it, without iolag: with pyarrow, with sqlite3, and by what
docs/store-format.md says of spools.

usage: known_answers.py

Each line has what tells samples apart, how many there are, the sums of their numbers, and the median of their durations: the
middle one, of an even number the lower one of the middle two. Those of runs by which they are compared are in medians.tsv: of
an even number the geometric mean of the middle two.
"""

import collections
import json
import math
import pathlib
import shutil
import sqlite3
import struct
import tempfile

import pyarrow.parquet

HERE = pathlib.Path(__file__).parent
RUN_KEYS = ["run", "target", "stage", "phase", "iteration", "operation", "outcome"]
RUN_SUMS = ["attempt", "client", "failure_code", "intended_ns", "start_ns", "duration_ns", "bytes", "tag"]
SERIES_KEYS = ["host", "target", "task", "part", "outcome"]
SERIES_SUMS = ["failure", "intended", "start", "duration_ns", "value_milli"]
# By the tables in docs/store-format.md.
BLOCK = struct.Struct("<8sHHB3xIIIIQQQII")
SAMPLE = struct.Struct("<QQQQQBBHHH")


def main():
    names = {"operation": {}, "outcome": {}}
    tables = {}
    for run in sorted((HERE / "store/runs").iterdir()):
        record = json.loads((run / "run.json").read_text())
        tables[run.name] = record, [row for part in record["parts"] for row in read_part(run / part["file"], names)]
    rows = []
    for run, (record, samples) in tables.items():
        if record["state"]["state"] == "running":
            samples = read_spool(HERE / "store/runs" / run / "spool", record, names)
        rows += [{"run": run, **sample} for sample in samples]
    write("runs.tsv", rows, RUN_KEYS, RUN_SUMS)
    write_medians("medians.tsv", rows)
    write("series.tsv", read_history(), SERIES_KEYS, SERIES_SUMS)


def read_part(path, names):
    rows = pyarrow.parquet.read_table(path).to_pylist()
    for row in rows:
        for name, known in names.items():
            known[row[name + "_code"]] = row[name]
    return rows


def read_spool(directory, record, names):
    """The samples of all rings; of those of one attempt the one that knows more."""
    best = {}
    for path in sorted(directory.glob("ring-*.spool")):
        data, at = path.read_bytes(), 0
        while at < len(data):
            magic, _, _, kind, _, count, _, payload, *_ = BLOCK.unpack_from(data, at)
            assert magic == b"iolagspl", f"{path} is torn at {at}"
            for number in range(count if kind == 1 else 0):
                sample = sample_of(SAMPLE.unpack_from(data, at + BLOCK.size + number * SAMPLE.size), record, names)
                other = best.get(sample["attempt"])
                if other is None or knowledge(sample) > knowledge(other):
                    best[sample["attempt"]] = sample
            at += (BLOCK.size + payload + 4095) // 4096 * 4096
    return list(best.values())


def knowledge(sample):
    return sample["outcome"] != "hung", sample["duration_ns"]


def sample_of(fields, record, names):
    attempt, intended, start, duration, moved, operation, outcome, code, stage, tag = fields
    client, place = attempt >> 40, record["stages"][stage]
    target = next(one["target"] for one in record["clients"] if one["client"] == client)
    return {
        "attempt": attempt, "client": client, "target": target, "stage": stage, "phase": place["phase"],
        "iteration": place["iteration"], "operation": names["operation"][operation], "outcome": names["outcome"][outcome],
        "failure_code": code, "intended_ns": intended, "start_ns": start, "duration_ns": duration, "bytes": moved, "tag": tag,
    }


def read_history():
    with tempfile.TemporaryDirectory() as directory:
        # A database whose log was written into it is opened with a log all the same.
        path = pathlib.Path(directory) / "history.sqlite"
        shutil.copy(HERE / "history.sqlite", path)
        with sqlite3.connect(path) as history:
            history.row_factory = sqlite3.Row
            rows = history.execute("""
                SELECT host, target, task, part, name AS outcome, failure, intended_ns AS intended, intended_ns + lag_ns AS start,
                       duration_ns, CAST(round(coalesce(value, 0) * 1000) AS INTEGER) AS value_milli
                FROM sample JOIN series ON series.id = sample.series JOIN outcome ON outcome.id = sample.outcome""").fetchall()
        history.close()
    return [dict(row) for row in rows]


def groups_of(rows, keys):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[tuple(str(row[key]) for key in keys)].append(row)
    return groups


def write_medians(name, rows):
    lines = ["\t".join([*RUN_KEYS, "median_between_ns"])]
    for key, group in sorted(groups_of(rows, RUN_KEYS).items()):
        durations = sorted(row["duration_ns"] for row in group)
        middle = durations[(len(group) - 1) // 2], durations[len(group) // 2]
        lines.append("\t".join([*key, repr(math.sqrt(middle[0] * middle[1]))]))
    (HERE / name).write_text("\n".join(lines) + "\n")


def write(name, rows, keys, sums):
    groups = groups_of(rows, keys)
    lines = ["\t".join([*keys, "samples", *sums, "median_ns"])]
    for key, group in sorted(groups.items()):
        durations = sorted(row["duration_ns"] for row in group)
        totals = [sum(row[column] for row in group) for column in sums]
        lines.append("\t".join([*key, str(len(group)), *map(str, totals), str(durations[(len(group) - 1) // 2])]))
    (HERE / name).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
