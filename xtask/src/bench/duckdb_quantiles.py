"""The rival of iolag's summaries: DuckDB, the same quantiles over the same columns of the same files.

Usage: duckdb_quantiles.py QUANTILE SECONDS FILE...; QUANTILE is quantile_cont or approx_quantile. Asks again and again for
SECONDS, prints the seconds of each time and the most memory that the process had resident.
"""

import resource
import sys
import time

import duckdb

function, seconds, files = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
connection = duckdb.connect()
connection.execute("SET threads = 2")
query = (
    f"SELECT operation_code, client, count(*), {function}(duration_ns, [0.5, 0.9, 0.99]) "
    "FROM read_parquet(?) WHERE outcome_code = 0 GROUP BY operation_code, client"
)
begin = time.monotonic()
while True:
    start = time.monotonic()
    rows = connection.execute(query, [files]).fetchall()
    print(f"{time.monotonic() - start:.6f}")
    assert rows, "there are no groups"
    if time.monotonic() - begin >= seconds:
        break
print("resident", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, "MiB")
