#!/usr/bin/env python3
"""Reads the Parquet parts of a run directory with pandas, pyarrow, Polars and DuckDB, as they are.

usage: readers.py RUN_DIRECTORY

Prints one JSON line per reader: rows, sums of the numeric columns, counts by operation, outcome and phase. Ends with 1 if
two readers disagree with each other or with the number of samples in run.json, with 2 if no reader is installed. Readers
that are not installed are named on standard error.
"""

import importlib
import json
import pathlib
import sys

NUMBERS = [
    "attempt", "client", "target", "stage", "operation_code", "outcome_code", "failure_code", "iteration",
    "intended_ns", "start_ns", "duration_ns", "bytes", "tag",
]
TEXTS = ["operation", "outcome", "phase"]


def summary(rows, total, counts):
    return {"rows": int(rows), "sums": {name: int(total(name)) for name in NUMBERS},
            "counts": {name: {str(text): int(n) for text, n in sorted(counts(name))} for name in TEXTS}}


def exact(values):
    """Sum without the overflow of 64 bits: high and low halves apart."""
    values = values.astype("int64")
    return int((values >> 32).sum()) * 2**32 + int((values & 0xFFFFFFFF).sum())


def with_pandas(files):
    import pandas
    data = pandas.concat([pandas.read_parquet(file) for file in files])
    return summary(len(data), lambda name: exact(data[name].to_numpy()), lambda name: data[name].value_counts().items())


def with_pyarrow(files):
    import pyarrow
    import pyarrow.parquet
    data = pyarrow.concat_tables([pyarrow.parquet.read_table(file) for file in files])
    return summary(data.num_rows, lambda name: exact(data[name].to_numpy()),
                   lambda name: [(one["values"].as_py(), one["counts"].as_py()) for one in data[name].combine_chunks().value_counts()])


def with_polars(files):
    import polars
    data = polars.concat([polars.read_parquet(file) for file in files])
    return summary(data.height, lambda name: exact(data[name].to_numpy()), lambda name: data[name].value_counts().iter_rows())


def with_duckdb(files):
    import duckdb
    source = f"read_parquet({[str(file) for file in files]})"
    one = lambda query: duckdb.sql(query).fetchall()
    return summary(one(f"select count(*) from {source}")[0][0],
                   lambda name: one(f"select sum({name}::hugeint) from {source}")[0][0],
                   lambda name: one(f"select {name}, count(*) from {source} group by {name}"))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    run = pathlib.Path(sys.argv[1])
    parts = json.loads((run / "run.json").read_text())["parts"]
    files = [run / part["file"] for part in parts]
    results = {}
    for name, read in [("pandas", with_pandas), ("pyarrow", with_pyarrow), ("polars", with_polars), ("duckdb", with_duckdb)]:
        try:
            importlib.import_module(name)
        except ImportError:
            print(f"SKIPPED {name}: not installed", file=sys.stderr)
            continue
        results[name] = read(files)
        print(json.dumps({"reader": name, **results[name]}))
    if not results:
        return 2
    expected = sum(part["samples"] for part in parts)
    same = all(result == next(iter(results.values())) for result in results.values())
    return 0 if same and next(iter(results.values()))["rows"] == expected else 1


if __name__ == "__main__":
    sys.exit(main())
