//! What a trace comes to: the questions that a program asked of the file systems, in numbers.
//!
//! Paths are text: a byte that is not UTF-8, a control character and a backslash are written as strace writes them.

use serde::{Deserialize, Serialize};

use crate::Nanoseconds;

/// What a trace comes to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceSummary {
    /// Calls.
    pub calls: u64,
    /// Calls that failed.
    pub errors: u64,
    /// Threads of all processes.
    pub tasks: u64,
    /// Processes.
    pub processes: u64,
    /// From the first call to the end of the last.
    pub span_ns: Nanoseconds,
    /// Where the time of all tasks went.
    pub time: TraceTime,
    /// What was done when; nothing if the trace has no times.
    #[serde(default)]
    pub time_line: Option<TraceTimeLine>,
    /// By what calls are called; those that took longest first.
    pub kinds: Vec<TraceKind>,
    /// Names that were looked up.
    pub lookups: TraceLookups,
    /// Directories in which one name after the other was looked for; those with most failed look-ups first.
    pub search_paths: Vec<SearchPath>,
    /// Directories in which nothing was ever found.
    pub in_vain: TraceVain,
    /// Questions that were asked again.
    pub repeats: TraceRepeats,
    /// By the directory of what was asked; those that took longest first.
    pub directories: Vec<TraceDirectory>,
    /// Directories with all that lies below them: each right behind the one that it is in, or behind others that are in that, too; those that took
    /// longest first.
    #[serde(default)]
    pub tree: Vec<TraceBranch>,
    /// The calls that took longest.
    pub slowest: Vec<TraceCall>,
    /// Calls on files and directories that never came back.
    #[serde(default)]
    pub never_back: TraceNeverBack,
    /// The processes, in the order in which they began.
    pub programs: Vec<TraceProgram>,
}

/// Where the time of all tasks went. Tasks that wait for each other count both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceTime {
    /// In calls on files and directories, but for those of /dev, /proc and /sys.
    pub storage_ns: Nanoseconds,
    /// In other calls: waiting for processes, pipes, terminals, time.
    pub elsewhere_ns: Nanoseconds,
    /// Between calls, less what tracing costs: on the processor, or waiting for one, or for a lock if futex is not traced; pages of mapped
    /// files are read there, too.
    pub processor_ns: Nanoseconds,
    /// Calls whose duration is not known.
    pub untimed: u64,
}

/// What was done when, in slots of one width from the beginning of the trace on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceTimeLine {
    /// Width of a slot.
    pub slot_ns: Nanoseconds,
    /// The slots, at most 200.
    pub slots: Vec<TraceSlot>,
}

/// What was done in a slot. Times are those of all tasks together, as far as they passed in it: of two tasks they may be twice its width.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceSlot {
    /// Calls that began in it.
    pub calls: u64,
    /// Those of them that failed.
    pub errors: u64,
    /// Time in calls on files and directories.
    pub storage_ns: Nanoseconds,
    /// Time between calls, less what tracing costs.
    pub processor_ns: Nanoseconds,
    /// Time in other calls.
    pub elsewhere_ns: Nanoseconds,
}

impl TraceSlot {
    /// Takes another slot into this one.
    pub fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.errors += other.errors;
        let sums = [&mut self.storage_ns, &mut self.processor_ns, &mut self.elsewhere_ns];
        let more = [other.storage_ns, other.processor_ns, other.elsewhere_ns];
        sums.into_iter().zip(more).for_each(|(sum, more)| sum.0 = sum.0.saturating_add(more.0));
    }
}

/// Calls of one name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceKind {
    /// What they are called.
    pub name: String,
    /// How many.
    pub calls: u64,
    /// How many failed.
    pub errors: u64,
    /// How long they took in all.
    pub time_ns: Nanoseconds,
    /// How long the longest took.
    pub longest_ns: Nanoseconds,
}

/// Names that were looked up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceLookups {
    /// Calls that look up a name.
    pub calls: u64,
    /// Those that found nothing of that name.
    pub absent: u64,
    /// How long those took.
    pub absent_ns: Nanoseconds,
}

/// Directories in which the same names were looked for, in that order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchPath {
    /// The directories.
    pub directories: Vec<SearchedDirectory>,
    /// How many names were looked for.
    pub names: u64,
    /// Some of them.
    pub examples: Vec<String>,
    /// Look-ups that found nothing.
    pub absent: u64,
    /// How long those took.
    pub absent_ns: Nanoseconds,
}

impl SearchPath {
    /// The directories that had none of the names, and how many look-ups that cost.
    pub fn in_vain(&self) -> (usize, u64) {
        let empty = self.directories.iter().filter(|directory| directory.found == 0);
        empty.fold((0, 0), |(count, asked), directory| (count + 1, asked + directory.asked))
    }
}

/// A directory of a search path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchedDirectory {
    /// Where it is, or would be.
    pub path: String,
    /// How often it was asked for one of the names.
    pub asked: u64,
    /// How often it had it.
    pub found: u64,
}

/// Directories that were asked for names or, again and again, whether they have changed, and that never had anything that was wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceVain {
    /// How many.
    pub directories: u64,
    /// Those of them that the loader of programs looks for below others of them: [`crate::loader_asks_below`].
    #[serde(default)]
    pub of_loader: u64,
    /// Calls on them, and for names in them.
    pub calls: u64,
    /// How long those took.
    pub time_ns: Nanoseconds,
    /// Those with most calls.
    pub most: Vec<VainDirectory>,
}

/// A directory in which nothing was found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VainDirectory {
    /// Which.
    pub path: String,
    /// Whether it was seen to be there, or not to be; nobody knows of what was never asked for itself.
    pub exists: Option<bool>,
    /// A name that was looked for in it; one with a dot rather than another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looked_for: Option<String>,
    /// How many different names were looked for in it.
    #[serde(default)]
    pub names: u64,
    /// The names that were asked for most often.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked_most: Vec<AbsentName>,
    /// Calls on it, and for names in it.
    pub calls: u64,
    /// How long those took.
    pub time_ns: Nanoseconds,
}

/// A name that is not there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AbsentName {
    /// The name, in its directory.
    pub name: String,
    /// How often it was asked for.
    pub calls: u64,
}

/// Questions that were asked again although nothing had changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceRepeats {
    /// Different questions: what was asked of which path.
    pub questions: u64,
    /// How often one was asked again.
    pub repeats: u64,
    /// How often by the process that had asked last.
    pub own_repeats: u64,
    /// How long the repeats took.
    pub time_ns: Nanoseconds,
    /// Those that were asked most often.
    pub most: Vec<RepeatedQuestion>,
}

/// A question that was asked again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepeatedQuestion {
    /// The call.
    pub name: String,
    /// Of what.
    pub path: String,
    /// How often in all.
    pub asked: u64,
}

/// What was asked of one directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceDirectory {
    /// Which.
    pub path: String,
    /// Calls on what lies in it.
    pub calls: u64,
    /// Those that failed.
    pub errors: u64,
    /// How long they took.
    pub time_ns: Nanoseconds,
}

/// A directory with all that lies below it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceBranch {
    /// Which. Directories on the way to it that have nothing else are not told.
    pub path: String,
    /// In how many of the other branches it is.
    pub depth: u32,
    /// Calls on what lies in it.
    pub own: TraceCounts,
    /// Calls on what lies in it and below it.
    pub all: TraceCounts,
    /// What else is below it, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<OtherDirectories>,
}

/// Directories that are not told one by one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherDirectories {
    /// How many.
    pub directories: u64,
    /// Calls on what lies in them.
    #[serde(flatten)]
    pub counts: TraceCounts,
}

/// Calls, and how long they took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceCounts {
    /// How many.
    pub calls: u64,
    /// Those that failed.
    pub errors: u64,
    /// How long they took.
    pub time_ns: Nanoseconds,
}

impl TraceCounts {
    /// Counts others, too.
    pub fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.errors += other.errors;
        self.time_ns.0 = self.time_ns.0.saturating_add(other.time_ns.0);
    }

    /// Without others, which were counted.
    pub fn take(&mut self, other: Self) {
        self.calls = self.calls.saturating_sub(other.calls);
        self.errors = self.errors.saturating_sub(other.errors);
        self.time_ns.0 = self.time_ns.0.saturating_sub(other.time_ns.0);
    }

    /// How much of `total` they are, by calls or by time, whichever is more: 0 to 1.
    pub fn share_of(self, total: Self) -> f64 {
        let share = |some: u64, of: u64| if of == 0 { 0.0 } else { some as f64 / of as f64 };
        share(self.calls, total.calls).max(share(self.time_ns.0, total.time_ns.0))
    }
}

/// One call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceCall {
    /// Its number in the trace.
    pub call: u64,
    /// What it is called.
    pub name: String,
    /// What it was about, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The number of the task.
    pub task: u32,
    /// When it began.
    pub start_ns: Nanoseconds,
    /// How long it took.
    pub duration_ns: Nanoseconds,
    /// Why it failed; 0 if it did not.
    pub errno: u16,
}

/// Calls on files and directories that never came back: their task ended in them, or the trace. Those that wait for others, by their nature or since
/// their file is a pipe, are none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceNeverBack {
    /// How many.
    pub calls: u64,
    /// Those that had waited longest.
    pub longest: Vec<CallWithoutEnd>,
}

/// A call that never came back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallWithoutEnd {
    /// The call. Its duration is for how long it was seen to wait; 0 if that is not known.
    #[serde(flatten)]
    pub call: TraceCall,
    /// What ended the wait.
    pub until: WaitEnd,
}

/// What ended the wait for a call that never came back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitEnd {
    /// The trace ended.
    #[default]
    TraceEnded,
    /// The task was ended by the signal with this number; 0 if its name is unknown.
    Killed(u8),
    /// Another thread ended the process, or executed a program.
    ProcessEnded,
}

/// A process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceProgram {
    /// Its number.
    pub process: u32,
    /// The last program that it executed, if that was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Calls of all its threads.
    pub calls: u64,
    /// Those that failed.
    pub errors: u64,
    /// Time in calls on files and directories.
    pub storage_ns: Nanoseconds,
}
