// Made by `cargo xtask types` from the types of iolag-report, iolag-analysis and iolag-model.

/**
 * A box: quantiles of durations. Quantiles are those of docs/statistics.md.
 */
export type BoxFigure = {
/**
 * Attempts that succeeded or are censored.
 */
attempts: number,
/**
 * Shortest.
 */
min: Estimate,
/**
 * 5 %.
 */
p5: Estimate,
/**
 * First quartile.
 */
p25: Estimate,
/**
 * Median.
 */
median: Estimate,
/**
 * Third quartile.
 */
p75: Estimate,
/**
 * 95 %.
 */
p95: Estimate,
/**
 * Longest.
 */
max: Estimate,
/**
 * Attempts further from the box than 1.5 times its height on the logarithmic axis (Tukey 1977), within
 * the resolution of the histogram.
 */
outliers: number, };

/**
 * What the numbers in columns mean.
 */
export type BucketAxis = {
/**
 * The shortest duration of every histogram bucket in ns, ascending. The longest is one less than the
 * next one's shortest.
 */
lowest_ns: Array<number>,
/**
 * Names of outcomes by number.
 */
outcomes: Array<Outcome>,
/**
 * Names of reasons by number.
 */
reasons: Array<string>, };

/**
 * The box of one client.
 */
export type ClientBox = {
/**
 * The client, or the first of its group.
 */
client: ClientId,
/**
 * Where it stands among the clients, 0 to 100, ordered by their medians; absent if each is shown.
 */
percent: number | null,
/**
 * Its box; at most 2.2 % beside the exact values.
 */
durations: BoxFigure, };

/**
 * Boxes of clients for one operation on one target.
 */
export type ClientBoxes = {
/**
 * Index of the layer.
 */
layer: number,
/**
 * Which clients are shown.
 */
shown: ClientsShown,
/**
 * Clients, or groups of them, that did this operation.
 */
clients: number,
/**
 * The boxes.
 */
boxes: Array<ClientBox>, };

/**
 * One simulated user or job, numbered from 0 within a run, over all its targets.
 */
export type ClientId = number;

/**
 * Which clients are shown.
 */
export type ClientsShown = "each" | "deciles";

/**
 * Numbers of 2 bytes.
 */
export type Column16 = Uint16Array;

/**
 * Numbers of 4 bytes.
 */
export type Column32 = Uint32Array;

/**
 * Numbers of 1 byte.
 */
export type Column8 = Uint8Array;

/**
 * Numbers with a fraction, 24 significant bits; never infinite, never "not a number".
 */
export type ColumnFloat = Float32Array;

/**
 * Type of a column's numbers.
 */
export type ColumnKind = "u8" | "u16" | "u32" | "f32";

/**
 * Counts of attempts on a grid of time by duration, a layer per operation on a target.
 */
export type Density = {
/**
 * Columns of time, of equal width over the span; they are the same in all layers.
 */
columns: number,
/**
 * Histogram buckets per row: a power of two.
 */
buckets_per_row: number,
/**
 * The layers that hold an attempt.
 */
layers: Array<DensityLayer>, };

/**
 * Counts of one layer, cropped to the rows that hold an attempt.
 */
export type DensityLayer = {
/**
 * Index of the layer.
 */
layer: number,
/**
 * First histogram bucket of row 0, the shortest durations.
 */
first_bucket: number,
/**
 * Number of rows.
 */
rows: number,
/**
 * `rows` × `columns` counts, row by row.
 */
counts: Column32, };

/**
 * "Integrated percent": the share of attempts that took at most so long, by Kaplan and Meier 1958; of a ping
 * ([`crate::Censoring::Informative`]) the share that certainly did.
 *
 * A step function: from `duration_ns[i]` up to the next one the share is `share[i]`.
 */
export type Distribution = {
/**
 * Index of the series.
 */
series: number,
/**
 * Durations that are known.
 */
known: number,
/**
 * Durations of which only a lower bound is known.
 */
censored: number,
/**
 * Durations in ns, ascending. The share is exact at each of them, but they are thinned out; the first is
 * the shortest, with the share of one attempt.
 */
duration_ns: ColumnFloat,
/**
 * Shares, 0 to 1.
 */
share: ColumnFloat,
/**
 * The share at 0.1, 1, 10 and 60 s (or the thresholds of the plan), exactly.
 */
thresholds: Array<ShareAt>,
/**
 * The share that took longer than everything known: it did not end while it was watched.
 */
at_least: ShareAtLeast | null,
/**
 * What the attempts are worth under autocorrelation.
 */
sample_size: EffectiveSampleSize,
/**
 * Half the height of the 95 % band of Dvoretzky, Kiefer and Wolfowitz (Massart 1990),
 * `sqrt(ln(2 / 0.05) / (2 n))`, n being the effective sample size; at most 1.
 */
band: number,
/**
 * The same as if every attempt were independent.
 */
band_naive: number, };

/**
 * What `web/src/run/data.ts` reads.
 */
export type Document = { figures: Figures,
/**
 * What tells each run from the others.
 */
run_names: Array<string>, proof: Proof | null, columns: Array<ListedColumn>, };

/**
 * What a sequence is worth.
 */
export type EffectiveSampleSize = {
/**
 * Attempts.
 */
attempts: number,
/**
 * Independent attempts that would tell as much; never more than `attempts`.
 */
effective: number, };

/**
 * A maximal interval of trouble on one target.
 */
export type Episode = {
/**
 * The target.
 */
target: TargetIndex,
/**
 * Start of the first attempt in trouble.
 */
begin_ns: MonotonicTime,
/**
 * Last end of one, or the last look at what had not ended.
 */
end_ns: MonotonicTime,
/**
 * The attempt that took longest or had waited longest.
 */
peak: Peak,
/**
 * Attempts in trouble, by kind.
 */
troubles: TroubleCounts,
/**
 * The greatest age of an attempt that had not ended.
 */
longest_wait_ns: Nanoseconds | null,
/**
 * The series that were in trouble, by their indices.
 */
series: Array<EpisodeSeries>, };

/**
 * One series within an episode.
 */
export type EpisodeSeries = {
/**
 * Its index.
 */
series: number,
/**
 * Slow means longer than this; absent if slowness is not counted.
 */
threshold_ns: Nanoseconds | null,
/**
 * Its attempts in trouble.
 */
troubles: TroubleCounts, };

/**
 * Failures by the kind that users think in; several errno may share one.
 */
export type ErrorClass = "none" | "not-found" | "exists" | "permission" | "no-space" | "read-only" | "stale" | "input-output" | "busy" | "interrupted" | "timed-out" | "not-supported" | "connection" | "not-empty" | "too-many-files" | "short" | "mismatch" | "exit" | "protocol" | "abandoned" | "not-mounted" | "name-resolution" | "tls" | "throttled" | "server" | "other";

/**
 * Failed attempts of one kind.
 */
export type ErrorCount = {
/**
 * The kind.
 */
class: ErrorClass,
/**
 * How many.
 */
count: number, };

/**
 * A quantile or an extreme, or why there is none.
 */
export type Estimate = { exactly_ns: number } | { at_least_ns: number } | { below_ns: number } | { too_few: { needed: number, have: number } } | { few_stretches: { stretches: number } };

/**
 * How evenly clients of one target were served.
 */
export type Fairness = {
/**
 * The target.
 */
target: TargetIndex,
/**
 * Clients, or groups of them, that did something.
 */
clients: number,
/**
 * Clients per group; 1 unless there are more than 4096 clients.
 */
clients_per_group: number,
/**
 * Bins over the span.
 */
bins: number,
/**
 * Width of a bin in ns.
 */
bin_ns: number,
/**
 * Which clients have a line.
 */
shown: ClientsShown,
/**
 * Their lines.
 */
lines: Array<FairnessLine>,
/**
 * Jain's index (1984) of the clients' rates: `(Σx)² / (n Σx²)`, x being a client's operations that
 * succeeded by the time from its first start to its last end. 1 is even, 1/n is one client alone.
 */
jain: number | null,
/**
 * Jain's index of the operations that clients finished by moment: of bins that are joined until they hold 30 of each client on average; 0 where
 * nothing was finished in three bins or more, and everywhere if there are fewer.
 */
jain_over_time: ColumnFloat,
/**
 * The stages.
 */
stages: Array<StageFairness>, };

/**
 * What one client has done.
 */
export type FairnessLine = {
/**
 * The client, or the first of its group.
 */
client: ClientId,
/**
 * Where it stands among the clients, 0 to 100, ordered by their rates; absent if each is shown.
 */
percent: number | null,
/**
 * Operations that succeeded by the end of each bin.
 */
done: Column32,
/**
 * Operations per second, as in [`Fairness::jain`]; absent if they took no time.
 */
per_second: number | null, };

/**
 * Everything that the figures of a report are drawn from.
 */
export type Figures = {
/**
 * [`FIGURE_SCHEMA`].
 */
schema: number,
/**
 * What bucket, outcome and reason numbers mean.
 */
axis: BucketAxis,
/**
 * The runs, in the order in which they were asked for.
 */
runs: Array<RunFigures>,
/**
 * Figures over several runs of a campaign.
 */
sweeps: Array<SweepFigure>, };

/**
 * A stretch of time in which at least one attempt on a target was past its deadline, from its start to its end.
 */
export type HangSpan = {
/**
 * The target.
 */
target: TargetIndex,
/**
 * Start of the first of its attempts, since the begin of the run's span.
 */
begin_ns: Nanoseconds,
/**
 * End of the last one, since the begin of the run's span; absent if one had not ended when the run was over.
 */
end_ns: Nanoseconds | null,
/**
 * Index of the series of the attempt that lasted longest.
 */
series: number, };

/**
 * Durations over time: counts on a coarse grid, a layer per operation on a target.
 */
export type HeatMap = {
/**
 * Columns of time, of equal width over the span.
 */
columns: number,
/**
 * Histogram buckets per row.
 */
buckets_per_row: number,
/**
 * The layers that hold an attempt.
 */
layers: Array<HeatMapLayer>, };

/**
 * Counts of one layer.
 */
export type HeatMapLayer = {
/**
 * Index of the layer.
 */
layer: number,
/**
 * First histogram bucket of row 0, the shortest durations.
 */
first_bucket: number,
/**
 * Number of rows.
 */
rows: number,
/**
 * `rows` × `columns` counts, row by row.
 */
counts: Column32,
/**
 * Sum of each column: a share is a count by its column's sum.
 */
totals: Column32, };

/**
 * Counts on a logarithmic axis, with a smooth curve.
 *
 * Bin `i` counts durations from `10^((first_bin + i) / 20)` ns up to the next one; a duration within 0.8 % of
 * an edge may count in the neighbour.
 */
export type HistogramFigure = {
/**
 * Index of the series.
 */
series: number,
/**
 * Number of the first bin.
 */
first_bin: number,
/**
 * Known durations in each bin.
 */
counts: Column32,
/**
 * Density of the known durations per decade: a Gaussian kernel on the decimal logarithm, bandwidth by
 * Silverman 1986, but 0.025 to 0.25 decades. Point `j` is at `10^((first_bin + j / 4) / 20)` ns.
 */
density_per_decade: ColumnFloat,
/**
 * Bandwidth of the kernel in decades.
 */
bandwidth_decades: number, };

/**
 * 95 % interval of a quantile.
 */
export type Interval = { "between": {
/**
 * Lower end.
 */
low: Estimate,
/**
 * Upper end.
 */
high: Estimate, } } | { "too_few": {
/**
 * Independent attempts that are needed.
 */
needed: number,
/**
 * Independent attempts that there are.
 */
have: number, } } | { "few_stretches": {
/**
 * So many.
 */
stretches: number, } };

/**
 * An operation on a target, over all stages.
 */
export type Layer = {
/**
 * For legends: operation and, if there are several, target.
 */
name: string,
/**
 * What was asked.
 */
operation: Operation,
/**
 * The target.
 */
target: TargetIndex, };

/**
 * On which level an operation is meant; operations of different levels are never summed.
 */
export type Level = "object" | "call" | "stream" | "task" | "harness";

export type ListedColumn = { pointer: string, kind: ColumnKind, length: number,
/**
 * Id of the element with its bytes.
 */
element: string, };

/**
 * Marks, one number per mark in every column, in the order of time.
 */
export type MarkColumns = {
/**
 * Start, as fraction of the span in units of 2^-32.
 */
time: Column32,
/**
 * Index of the series.
 */
series: Column16,
/**
 * Number of the outcome: 1 error, 2 time-out, 3 hung, 4 late, 5 skipped.
 */
outcome: Column8,
/**
 * Index into the names of reasons; 0 where the outcome says it all.
 */
reason: Column8,
/**
 * Duration, or age, as histogram bucket.
 */
bucket: Column16,
/**
 * Number of the client.
 */
client: Column32, };

/**
 * Marks of one kind by time column.
 */
export type MarkCounts = {
/**
 * Index of the series.
 */
series: number,
/**
 * Number of the outcome.
 */
outcome: number,
/**
 * Index into the names of reasons.
 */
reason: number,
/**
 * How many, in each of [`TIME_COLUMNS`].
 */
counts: Column32,
/**
 * The longest duration or age in each, as histogram bucket.
 */
longest: Column16, };

/**
 * Attempts that failed, timed out, hung, were late or skipped.
 */
export type Marks = {
/**
 * How many there are in all.
 */
total: number,
/**
 * Each of them, if they are at most [`MARKS_MAX`]; else nothing.
 */
each: MarkColumns,
/**
 * Counts by time column, if they are more; else nothing.
 */
counts: Array<MarkCounts>, };

/**
 * A moment on this boot's `CLOCK_MONOTONIC`, in nanoseconds. Zero is reserved for "no moment".
 */
export type MonotonicTime = number;

/**
 * A length of time in nanoseconds; never negative, never a float.
 */
export type Nanoseconds = number;

/**
 * What is asked. The number is stored, the name is shown; neither is ever reused.
 */
export type Operation = string;

/**
 * How an attempt ended. The number is stored.
 */
export type Outcome = "ok" | "error" | "timeout" | "hung" | "late" | "skipped" | "interrupted" | "retried";

/**
 * The worst attempt.
 */
export type Peak = {
/**
 * Its series.
 */
series: number,
/**
 * When it started.
 */
start_ns: MonotonicTime,
/**
 * How long it took, or its age.
 */
duration_ns: Nanoseconds, };

/**
 * A part of a workload.
 */
export type Phase = "precreate" | "benchmark" | "cleanup" | "tree-create" | "batch-create" | "batch-stat" | "batch-read" | "batch-remove" | "tree-remove" | "check" | "ping" | "write" | "rewrite" | "read" | "random-read" | "random-write" | "copy" | "walk" | "stat" | "sum" | "combined";

/**
 * Points, one number per point in every column, in the order of series, then time.
 */
export type Points = {
/**
 * Start, as fraction of the span in units of 2^-32.
 */
time: Column32,
/**
 * Duration as histogram bucket.
 */
bucket: Column16,
/**
 * Index of the series.
 */
series: Column16,
/**
 * Number of the outcome: 0 ok, 4 late.
 */
outcome: Column8,
/**
 * Number of the client; of more than 4096 clients the first of its group of neighbours.
 */
client: Column32, };

/**
 * The figure that shows the answer, with which the page begins.
 */
export type Proof = {
/**
 * Its kind, which is its id.
 */
figure: string,
/**
 * Where the worst shows; absent if there is none, or no figure shows it.
 */
at: ProofPlace | null, };

/**
 * What of the figures shows the worst.
 */
export type ProofPlace = {
/**
 * Index of the run.
 */
run: number,
/**
 * The target that was in trouble.
 */
target: TargetIndex,
/**
 * The level of operations on which it shows; absent if it shows on each.
 */
level: Level | null, };

/**
 * A quantile with its uncertainty.
 */
export type Quantile = {
/**
 * Which quantile, 0 to 1.
 */
q: number,
/**
 * Its value; none for quantiles above the median that have no interval.
 */
value: Estimate,
/**
 * The order statistic of this rank, however few attempts there are.
 */
order_statistic: Estimate,
/**
 * Interval as if every attempt were independent.
 */
interval_naive: Interval,
/**
 * Interval for what the attempts are worth: the one to show.
 */
interval: Interval, };

/**
 * Rates over time. Every column holds `bins` numbers per series, series by series.
 */
export type Rates = {
/**
 * Bins over the span.
 */
bins: number,
/**
 * Width of a bin in ns.
 */
bin_ns: number,
/**
 * Attempts that succeeded (also late), by the bin in which they ended. Per second: by `bin_ns`.
 */
operations: Column32,
/**
 * Bytes that they moved.
 */
bytes: ColumnFloat,
/**
 * Mean number of attempts in flight, whatever became of them. By the number of clients: the share of
 * time that clients wait.
 */
in_flight: ColumnFloat, };

/**
 * What is known about a run.
 */
export type RunFacts = {
/**
 * Its name.
 */
id: RunId,
/**
 * The campaign that it belongs to.
 */
campaign: RunId,
/**
 * Which repetition, from 1.
 */
repetition: number,
/**
 * A heading: workload, targets and clients.
 */
title: string,
/**
 * The command as typed, secrets removed.
 */
command: Array<string>,
/**
 * What the user attached.
 */
labels: { [key in string]: string },
/**
 * The host that measured.
 */
host: string,
/**
 * Where the run stands.
 */
state: RunState,
/**
 * Wall clock of the span's begin, ns since 1970-01-01 UTC; absent for a run without anchors.
 */
begin_realtime_ns: number | null,
/**
 * The span's begin on the monotonic clock.
 */
begin_ns: MonotonicTime,
/**
 * Length of the span that times are fractions of; at least 1.
 */
span_ns: Nanoseconds,
/**
 * Clients of the run.
 */
clients: number,
/**
 * The targets.
 */
targets: Array<TargetFacts>,
/**
 * The one that nobody asked for, which the others are compared with.
 */
control: TargetIndex | null,
/**
 * The stages, in their order, with the times in which clients were in them.
 */
stages: Array<StageFacts>,
/**
 * Thresholds of slowness, ascending.
 */
thresholds_ns: Array<Nanoseconds>, };

/**
 * The figures of one run.
 */
export type RunFigures = {
/**
 * What is known about it.
 */
run: RunFacts,
/**
 * How many samples stand behind the figures.
 */
counts: SampleCounts,
/**
 * What is told apart in time lines, distributions and rates.
 */
series: Array<Series>,
/**
 * What is told apart in grids and by client: an operation on a target, whatever the stage.
 */
layers: Array<Layer>,
/**
 * Every attempt over time.
 */
time_line: TimeLine,
/**
 * Per series with a known or censored duration.
 */
distributions: Array<Distribution>,
/**
 * Per series with a known duration.
 */
histograms: Array<HistogramFigure>,
/**
 * Per series with a known or censored duration.
 */
boxes: Array<SeriesBox>,
/**
 * Per layer that more than one client worked on.
 */
client_boxes: Array<ClientBoxes>,
/**
 * Durations over time.
 */
heat_map: HeatMap,
/**
 * Rates over time.
 */
rates: Rates,
/**
 * Per target with more than one client.
 */
fairness: Array<Fairness>,
/**
 * Times in which attempts were slow, failed or did not end.
 */
episodes: Array<Episode>,
/**
 * Times in which attempts were past their deadlines, by target: every figure of the target shows them, whatever its level.
 */
hangs: Array<HangSpan>, };

/**
 * Name of a run: `YYYYMMDD-HHMMSS-xxxx`, UTC and four hexadecimal digits. It is a directory name, so nothing else
 * is accepted: a run id never contains a separator or a dot.
 */
export type RunId = string;

/**
 * Where a run stands.
 */
export type RunState = { "state": "running",
/**
 * Process id of the keeper.
 */
keeper_pid: number,
/**
 * Start time of that process in clock ticks since boot (field 22 of /proc/PID/stat).
 */
keeper_start_ticks: number,
/**
 * Where the spool is, if not in the run directory.
 */
spool: string | null, } | { "state": "complete" } | { "state": "incomplete",
/**
 * Why, as a sentence fragment.
 */
reason: string, } | { "state": "recovered",
/**
 * What is missing, as a sentence fragment.
 */
reason: string, };

/**
 * How many samples stand behind the figures. `taken = attempts + stage_samples + unknown`.
 */
export type SampleCounts = {
/**
 * Samples that came.
 */
taken: number,
/**
 * Attempts in the series.
 */
attempts: number,
/**
 * Samples that tell about a client's stage, not about an attempt.
 */
stage_samples: number,
/**
 * Samples with an operation, outcome, target or stage that this iolag does not know.
 */
unknown: number,
/**
 * Attempts that started outside the span: they are drawn at its edge.
 */
clamped: number, };

/**
 * What is told apart: an operation on a target, in metadata runs by stage as well.
 */
export type Series = {
/**
 * For legends: operation, stage and target, as far as they differ within the run.
 */
name: string,
/**
 * What was asked.
 */
operation: Operation,
/**
 * On which level it is meant; levels are never summed.
 */
level: Level,
/**
 * The target.
 */
target: TargetIndex,
/**
 * The stage, or with many stages the phase; absent if neither is told apart.
 */
part: SeriesPart | null,
/**
 * Index of the layer that it belongs to.
 */
layer: number,
/**
 * All attempts.
 */
attempts: number,
/**
 * Succeeded within their deadline.
 */
ok: number,
/**
 * Succeeded after their deadline.
 */
late: number,
/**
 * Ended at their deadline.
 */
timeout: number,
/**
 * Had not ended.
 */
hung: number,
/**
 * Were due and not started.
 */
skipped: number,
/**
 * Failed, by the kind of failure.
 */
errors: Array<ErrorCount>,
/**
 * Bytes moved by attempts that succeeded.
 */
bytes: number,
/**
 * Shortest known duration.
 */
min_ns: Nanoseconds | null,
/**
 * Longest known duration.
 */
max_ns: Nanoseconds | null,
/**
 * Longest time that was waited for an attempt that had not ended.
 */
longest_wait_ns: Nanoseconds | null,
/**
 * Attempts known to have taken longer than each of the run's thresholds.
 */
over: Array<number>,
/**
 * What the attempts are worth under autocorrelation.
 */
sample_size: EffectiveSampleSize, };

/**
 * The box of a series.
 */
export type SeriesBox = {
/**
 * Index of the series.
 */
series: number,
/**
 * Its box; at most 0.8 % beside the exact values.
 */
durations: BoxFigure, };

/**
 * Part of a run that a series is about.
 */
export type SeriesPart = { "stage": StageIndex } | { "phase": Phase } | { "client": ClientId } | { "beside": Standpoint };

/**
 * The share at a threshold.
 */
export type ShareAt = {
/**
 * The threshold.
 */
threshold_ns: Nanoseconds,
/**
 * Share of attempts that took at most so long, 0 to 1; absent past the longest time that was waited if
 * something is censored.
 */
share: number | null, };

/**
 * The share that did not end.
 */
export type ShareAtLeast = {
/**
 * The share, 0 to 1.
 */
share: number,
/**
 * From here on nothing is known: the longest duration that is known or was waited for.
 */
from_ns: Nanoseconds, };

/**
 * One stage.
 */
export type StageFacts = {
/**
 * Its number.
 */
stage: StageIndex,
/**
 * Its name, as in `benchmark 2`.
 */
name: string,
/**
 * What it did.
 */
phase: Phase,
/**
 * Earliest begin of a client, as fraction of the span in units of 2^-32; absent if nobody was in it.
 */
begin: number | null,
/**
 * Latest end of a client; absent if nobody was in it.
 */
end: number | null, };

/**
 * Clients within a stage, from their `stage` samples.
 */
export type StageFairness = {
/**
 * The stage.
 */
stage: StageIndex,
/**
 * Clients that were in it.
 */
clients: number,
/**
 * Of these, did not end.
 */
unfinished: number,
/**
 * When the first client that ended was done, from the first start on.
 */
first_done_ns: Nanoseconds | null,
/**
 * When the last one was.
 */
last_done_ns: Nanoseconds | null,
/**
 * Jain's index of the clients' rates: operations by the client's own time in the stage.
 */
jain: number | null, };

/**
 * Index into the stages of a run.
 */
export type StageIndex = number;

/**
 * Where a bystander stands.
 */
export type Standpoint = "file" | "directory" | "sibling" | "control";

/**
 * One operation on one target against what was varied.
 */
export type SweepFigure = {
/**
 * What was varied.
 */
varied: Varied,
/**
 * Side, or target as the user named it.
 */
target: string,
/**
 * What else the points have in common: clients where objects are varied, objects where clients are.
 */
fixed: number,
/**
 * The phase.
 */
phase: Phase,
/**
 * The operation.
 */
operation: Operation,
/**
 * The points, by size, then run, then iteration.
 */
points: Array<SweepFigurePoint>,
/**
 * Per size the median of the rates over runs and iterations, with their range.
 */
rates: Array<SweepRate>, };

/**
 * One stage of one run.
 */
export type SweepFigurePoint = {
/**
 * Clients or objects.
 */
size: number,
/**
 * The run.
 */
run: RunId,
/**
 * Iteration of the phase, from 0.
 */
iteration: number,
/**
 * Operations per second, by the phase time.
 */
per_second: number,
/**
 * Median, with its interval.
 */
median: Quantile,
/**
 * 95 %, with its interval.
 */
p95: Quantile,
/**
 * 99 %, with its interval.
 */
p99: Quantile,
/**
 * The longest.
 */
max: Estimate, };

/**
 * Rates at one size.
 */
export type SweepRate = {
/**
 * Clients or objects.
 */
size: number,
/**
 * How many rates there are.
 */
count: number,
/**
 * Their median.
 */
median_per_second: number,
/**
 * The least; as an interval it needs at least 3 rates.
 */
low_per_second: number,
/**
 * The greatest.
 */
high_per_second: number, };

/**
 * One target.
 */
export type TargetFacts = {
/**
 * As the user named it, secrets removed.
 */
name: string,
/**
 * Kind of file system, or of backend.
 */
kind: string,
/**
 * For a target that did not answer: how long it was waited for.
 */
unanswered_ns: Nanoseconds | null, };

/**
 * Index into the targets of a run.
 */
export type TargetIndex = number;

/**
 * The time line of a run.
 */
export type TimeLine = {
/**
 * How attempts of known duration (ok and late) are drawn.
 */
form: TimeLineForm,
/**
 * Attempts of known duration, each of which is a point or counted in the density.
 */
attempts: number,
/**
 * How the figure was thinned out; absent if it was not.
 */
decimation: string | null,
/**
 * Every attempt of known duration; with density, the longest of every series in every time column.
 */
points: Points,
/**
 * The density; absent if every attempt is a point.
 */
density: Density | null,
/**
 * What did not end well and in time.
 */
marks: Marks, };

/**
 * How attempts are drawn.
 */
export type TimeLineForm = "points" | "density";

/**
 * Attempts in trouble, by kind; each is counted once.
 */
export type TroubleCounts = {
/**
 * Succeeded in time, but slow.
 */
slow: number,
/**
 * Succeeded after their deadline.
 */
late: number,
/**
 * Failed.
 */
failed: number,
/**
 * Ended at their deadline.
 */
timeout: number,
/**
 * Had not ended.
 */
hung: number,
/**
 * Were due and not started.
 */
skipped: number, };

/**
 * What was varied.
 */
export type Varied = "clients" | "objects";
