//! Two sides of anything that iolag measures, compared run by run.
//!
//! ```text
//! Side: its units, a run each -> rows of what all have in common -> compare_runs -> ComparedTable: percent, interval, word, doubts
//! ```
//!
//! Invariants: a unit is a run (of a watch, and of runs that a history remembers, a day), never an attempt; like is compared with like: what differs between units of a row besides
//! the sides is a row of its own, not pooled; what has no counterpart is told, not dropped. Nothing here knows the workload of a run beyond
//! its [`Cell`](crate::Cell)s, and nothing its words: they are the report's.

pub(crate) mod attempts;
pub(crate) mod beside;
pub(crate) mod cells;
pub(crate) mod days;
pub(crate) mod doubt;
pub(crate) mod doubting;
pub(crate) mod judging;
pub(crate) mod pairing;
pub(crate) mod refusing;
pub(crate) mod remembered;
pub(crate) mod rules;
pub(crate) mod side;
pub(crate) mod table;
pub(crate) mod unit;

pub use days::Days;
pub use doubt::Doubt;
pub use judging::compare_sides;
pub use refusing::CompareError;
pub use remembered::{RememberedRun, RememberedRuns};
pub use rules::rule::{Beyond, FailRule, RuleJudgement, RuleOutcome, UnreadableRule};
pub use side::{Fact, RowKey, Side, Unit, UnitBlock, UnitKind, UnitValue, defining_labels};
pub use table::{
    Beside, BetweenOthers, CompareOptions, ComparedBeside, ComparedBystander, ComparedCell, ComparedRow,
    ComparedSide, ComparedTable, ComparedWorkload, FeltOfSide, LeftOut, MiddleOfRuns, Pairs, SideProfile,
    SideValue,
};
pub use unit::{options_of, unit_of_run};
