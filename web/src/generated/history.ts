// Made by `cargo xtask types` from the types of iolag-report, iolag-analysis and iolag-model.

/**
 * A series before and after a change, cut at the event next to it.
 */
export type BeforeAfter = {
/**
 * Index of the series.
 */
series: number,
/**
 * Index of its change.
 */
change: number,
/**
 * Id of the event.
 */
event: string,
/**
 * What the event says.
 */
event_text: string,
/**
 * The moment that parts before from after: the event if it lies between two samples, else the change.
 */
border_ns: number,
/**
 * Each attempt counting once.
 */
before: Curve,
/**
 * The same, after.
 */
after: Curve,
/**
 * Each scheduled slot counting once; absent if that is the same.
 */
before_by_time: Curve | null,
/**
 * The same, after.
 */
after_by_time: Curve | null, };

/**
 * A change of level.
 */
export type ChangeMark = {
/**
 * The last sample before it.
 */
last_before_ns: number,
/**
 * The first sample after it.
 */
first_after_ns: number,
/**
 * Median before: seconds, or the unit of the series.
 */
median_before: number,
/**
 * How much is known of it.
 */
median_before_is: Knowledge,
/**
 * Median after.
 */
median_after: number,
/**
 * How much is known of it.
 */
median_after_is: Knowledge,
/**
 * Median after by median before; absent where not known.
 */
ratio: number | null,
/**
 * Probability of such a split without a change.
 */
p: number,
/**
 * Id of the event next to it.
 */
event: string | null, };

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
 * Everything against everything.
 */
export type CorrelationFigure = {
/**
 * What was correlated.
 */
method: CorrelationMethod,
/**
 * Greatest adjusted p of what is called significant.
 */
significance: number,
/**
 * Names of rows and columns.
 */
names: Array<string>,
/**
 * Pairs, in the order of the analysis.
 */
pairs: Array<PairCell>, };

/**
 * What is correlated.
 */
export type CorrelationMethod = "spearman" | "pearson" | "pearson-log";

/**
 * A distribution as a step function: from `amount[i]` on the share is `share[i]`.
 */
export type Curve = {
/**
 * Observations.
 */
count: number,
/**
 * What they are worth under autocorrelation.
 */
effective: number,
/**
 * Of these, not ended: at least so long.
 */
at_least_count: number,
/**
 * Of these, below the clock's resolution, which is the first amount then.
 */
below_count: number,
/**
 * Of these, concluded from the probe that was in the way.
 */
imputed_count: number,
/**
 * Where each step is: ns for durations, otherwise the unit of the series.
 */
amount: ColumnFloat,
/**
 * Share that does not exceed it, 0 to 1.
 */
share: ColumnFloat,
/**
 * Lower end of the band that holds the whole curve with 95 % confidence.
 */
low: ColumnFloat,
/**
 * Upper end.
 */
high: ColumnFloat,
/**
 * The share that did not end, and from where on; absent if all ended.
 */
end: CurveEnd | null, };

/**
 * What had not ended.
 */
export type CurveEnd = {
/**
 * Its share.
 */
share: number,
/**
 * It took at least so much: ns for durations.
 */
from: number, };

/**
 * Rows are days, each of 24 hours of local time; columns are row after row.
 */
export type DayMatrix = {
/**
 * The days of the rows as in `2008-05-08`, ascending; days without a slot are absent.
 */
days: Array<string>,
/**
 * Median duration in ns, time-weighted; -1 where there is none.
 */
median_ns: ColumnFloat,
/**
 * Greatest duration in ns, time-weighted; -1 where there is none.
 */
worst_ns: ColumnFloat,
/**
 * Slots with a duration, imputed ones included.
 */
observations: Column16,
/**
 * Attempts that passed their deadline.
 */
past_deadline: Column16,
/**
 * Attempts that failed.
 */
failed: Column16,
/**
 * Slots that were skipped.
 */
skipped: Column16, };

/**
 * What `web/src/history/document.ts` reads.
 */
export type Document = { title: string, zone: string, written_ns: number | null, figures: HistoryFigures, columns: Array<ListedColumn>,
/**
 * Only where the page does not carry them itself: parts by the ids of their elements.
 */
parts: Array<RenderedPart>, };

/**
 * An event.
 */
export type EventMark = {
/**
 * Its id.
 */
id: string,
/**
 * When it began.
 */
begin_ns: number,
/**
 * When it ended, if it lasted.
 */
end_ns: number | null,
/**
 * Which host it concerns; empty for all.
 */
host: string,
/**
 * Which target it concerns; empty for all.
 */
target: string,
/**
 * Where it comes from.
 */
source: EventSource,
/**
 * A word to group by; may be empty.
 */
kind: string,
/**
 * What happened.
 */
text: string, };

/**
 * Where an event comes from.
 */
export type EventSource = "note" | "configuration" | "list" | "journal" | "watch";

/**
 * A time without samples of a host, or of a part of what was imported of it.
 */
export type Gap = {
/**
 * Which host.
 */
host: string,
/**
 * Which target; empty if nothing of the host has samples.
 */
target: string,
/**
 * Which task; empty if nothing of the target has samples.
 */
task: string,
/**
 * When the last sample before it was due; its end, if it lasted longer than a period.
 */
begin: WallTime,
/**
 * When the first sample after it was due.
 */
end: WallTime,
/**
 * Rounds that are missing.
 */
rounds: number,
/**
 * Whether a watch is known to have run at its middle.
 */
is_watched: boolean,
/**
 * What has no samples.
 */
record: GapRecord, };

/**
 * Whose record a gap is in.
 */
export type GapRecord = "watched" | "imported";

/**
 * Whether a hang is known to be over.
 */
export type HangState = "ended" | "not-ended";

/**
 * What the numbers in columns mean.
 */
export type HistoryAxis = {
/**
 * The shortest duration of every histogram bucket in ns, ascending.
 */
lowest_ns: Array<number>,
/**
 * Names of states by number: the outcomes, then `below`: it succeeded within the clock's resolution.
 */
states: Array<string>,
/**
 * The first moment, by wall clock.
 */
begin_ns: number,
/**
 * How much time there is from it to the last moment.
 */
span_ns: number,
/**
 * How much time a unit in a column of moments is.
 */
time_unit_ns: number, };

/**
 * The figures of a history.
 */
export type HistoryFigures = {
/**
 * [`HISTORY_FIGURE_SCHEMA`].
 */
schema: number,
/**
 * What the numbers in columns mean.
 */
axis: HistoryAxis,
/**
 * All samples, skipped slots included.
 */
samples: number,
/**
 * How the time lines were thinned out, as a sentence; absent if every sample is drawn.
 */
decimation: string | null,
/**
 * Each series, in the order of the analysis.
 */
series: Array<SeriesFigure>,
/**
 * Load of each host that has one.
 */
loads: Array<HostLoad>,
/**
 * For each series with a change next to an event: the strongest of them, as curves.
 */
before_after: Array<BeforeAfter>,
/**
 * All against all.
 */
correlations: CorrelationFigure,
/**
 * Events in the order of time.
 */
events: Array<EventMark>,
/**
 * Lines of the journal that were left out of `events`, being too many.
 */
events_left_out: number,
/**
 * Mounts that did not answer.
 */
outages: Array<Outage>,
/**
 * Times in which attempts were past their deadlines, by place: every figure of the place shows them, whatever task it is of.
 */
hangs: Array<HistoryHang>,
/**
 * Times in which nobody watched.
 */
gaps: Array<Gap>, };

/**
 * A stretch of time in which attempts on a target were past their deadlines, from the start of the first to the end of the last.
 */
export type HistoryHang = {
/**
 * The host.
 */
host: string,
/**
 * The target.
 */
target: string,
/**
 * The task that hung longest.
 */
task: string,
/**
 * Start of the first attempt, by wall clock.
 */
begin_ns: number,
/**
 * Until when it is known to have lasted, by wall clock.
 */
seen_ns: number,
/**
 * Whether all had ended, or when the watch looked last one had not.
 */
state: HangState, };

/**
 * The 5-minute load of a host, as it was read with all its samples.
 */
export type HostLoad = {
/**
 * Which host.
 */
host: string,
/**
 * Median of each of [`LOAD_COLUMNS`] equal stretches of time; -1 where there is none.
 */
median: ColumnFloat,
/**
 * Greatest of each stretch; -1 where there is none.
 */
max: ColumnFloat, };

/**
 * How much is known of a value.
 */
export type Knowledge = "exactly" | "at-least" | "at-most";

/**
 * A coefficient at a lag.
 */
export type LagCoefficientMark = {
/**
 * How many slots the right one follows the left one.
 */
slots: number,
/**
 * -1 to 1.
 */
coefficient: number, };

export type ListedColumn = { pointer: string, kind: ColumnKind, length: number,
/**
 * Id of the element with its bytes.
 */
element?: string,
/**
 * Or the bytes themselves, packed.
 */
packed?: string, };

/**
 * A time in which a mount did not answer, or was not there. Identified by host and first probe.
 */
export type Outage = {
/**
 * Which host.
 */
host: string,
/**
 * What the mount did.
 */
kind?: OutageKind,
/**
 * Mount point, or target if that is not known: for people.
 */
mount: string,
/**
 * Names of the targets that lie there, as their series have them. None are known of outages that were recorded before this was.
 */
targets?: Array<string>,
/**
 * The probe that found it, or a name that no probe has.
 */
probe: ProbeId,
/**
 * From when on it is known.
 */
begin: WallTime,
/**
 * When it was over; absent while it lasts.
 */
end?: WallTime | null,
/**
 * How it ended; absent while it lasts.
 */
ending?: OutageEnding | null,
/**
 * Slots that were skipped because of it.
 */
skipped: number, };

/**
 * How an outage ended.
 */
export type OutageEnding = "recovered" | "remounted" | "unmounted" | "rebooted";

/**
 * What a mount did in an outage.
 */
export type OutageKind = "no-answer" | "not-mounted";

/**
 * Two variables and how they go together.
 */
export type PairCell = {
/**
 * Index of one name.
 */
left: number,
/**
 * Index of the other.
 */
right: number,
/**
 * -1 to 1; beyond the daily cycle where that is known.
 */
coefficient: number,
/**
 * Its word.
 */
strength: Strength,
/**
 * Values that were measured together.
 */
pairs: number,
/**
 * Independent pairs that would tell as much.
 */
pairs_effective: number,
/**
 * p, after all pairs and lags were counted.
 */
p_adjusted: number,
/**
 * Whether that is small enough.
 */
is_significant: boolean,
/**
 * Length of a slot of the lags; zero where they were not looked at.
 */
slot_ns: number,
/**
 * The lag whose coefficient is furthest from zero: how many slots the right one follows the left one.
 */
best_slots: number,
/**
 * Coefficients by lag.
 */
lags: Array<LagCoefficientMark>, };

/**
 * Every sample of a series of durations, in the order of their starts.
 */
export type PointColumns = {
/**
 * Time units since the sample before; of the first since the begin of the axis.
 */
time_steps: Column32,
/**
 * Histogram bucket of the duration, or of its bound; of what was below the resolution that of the resolution.
 */
bucket: Column16,
/**
 * Number of the state.
 */
state: Column8, };

/**
 * One scheduled execution of one task, unique on its host: the wall-clock second in which its watch started in the upper 40 bits, then
 * a number counted from there in 12, then a tag of the watch in 12. Those of one watch ascend; nothing else follows from their order. A run of which values are
 * remembered has a fingerprint of its id.
 */
export type ProbeId = string;

/**
 * Markup in which everything from outside is escaped.
 */
export type RenderedPart = { id: string, html: string, };

/**
 * Samples in one state.
 */
export type RibbonMarks = {
/**
 * Number of the state.
 */
state: number,
/**
 * How many in each stretch.
 */
count: Column32, };

/**
 * Quantiles of durations in [`RIBBON_COLUMNS`] equal stretches of time, as histogram buckets; what had not ended counts at its bound, and
 * what was below the resolution at that. Skipped slots, failures and what the watch interrupted are marks only.
 */
export type Ribbons = {
/**
 * Durations in each stretch; quantiles of none are 0.
 */
count: Column32, p5: Column16, p25: Column16, median: Column16, p75: Column16, p95: Column16, max: Column16,
/**
 * Samples that did not simply succeed.
 */
marks: Array<RibbonMarks>, };

/**
 * The figures of one series.
 */
export type SeriesFigure = {
/**
 * Which one.
 */
key: SeriesKey,
/**
 * As people call it, without the host.
 */
name: string,
/**
 * What its samples are.
 */
kind: SeriesKind,
/**
 * Unit of values, empty for durations.
 */
unit: string,
/**
 * Smallest duration that its clock could tell from zero; zero for any.
 */
resolution_ns: number,
/**
 * Deadline of its probes, zero if unknown.
 */
deadline_ns: number,
/**
 * Slots by how they ended.
 */
slots: SlotCounts,
/**
 * Every sample of a duration; empty if there are `ribbons` or for values.
 */
points: PointColumns,
/**
 * Every value; empty for durations.
 */
values: ValueColumns,
/**
 * Instead of points, if they are too many.
 */
ribbons: Ribbons | null,
/**
 * Changes of level in the order of time.
 */
changes: Array<ChangeMark>,
/**
 * The distribution, each attempt counting once.
 */
by_attempt: Curve,
/**
 * Each scheduled slot counting once; absent if that is the same.
 */
by_time: Curve | null,
/**
 * Hours by days; absent for values.
 */
days: DayMatrix | null, };

/**
 * What tells one series from every other, on all hosts.
 */
export type SeriesKey = {
/**
 * Host name of the machine that measured.
 */
host: string,
/**
 * The target as users name it, secrets removed; empty for what belongs to the host alone (a covariate).
 */
target: string,
/**
 * The task: `list`, `create`, or the name that the user gave to a command or an import.
 */
task: string,
/**
 * The part of the task, empty for the whole: `ls -n` of `list`, `unlink` of `create`.
 */
part: string, };

/**
 * What the samples of a series are.
 */
export type SeriesKind = "task" | "control" | "covariate" | "imported-duration" | "imported-value" | "benchmark" | "benchmark-control";

/**
 * Slots of a series by how they ended.
 */
export type SlotCounts = { ok: number, error: number, timeout: number, hung: number, late: number, skipped: number, interrupted: number, };

/**
 * The words of study 000.
 */
export type Strength = "none" | "small" | "medium" | "strong";

/**
 * Values of a series in the order of time.
 */
export type ValueColumns = {
/**
 * Time units since the value before; of the first since the begin of the axis.
 */
time_steps: Column32,
/**
 * The values.
 */
value: ColumnFloat, };

/**
 * Nanoseconds since 1970-01-01 UTC by `CLOCK_REALTIME`; negative before. It may be stepped: differences of two are only as good
 * as the clock was.
 */
export type WallTime = number;
