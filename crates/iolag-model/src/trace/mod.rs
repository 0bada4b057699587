//! Traces: what one says of itself, and what it comes to.

mod about;
mod elapsed;
mod loader;
mod summary;

pub use about::{
    CaptureTime, ProgramEnd, TraceAbout, TraceAnonymity, TraceCost, TraceEnding, TraceMount, TraceNetwork,
    TraceOrigin, TracingCost,
};
pub use elapsed::{TraceActivity, TraceActivityKind, TraceElapsed, TraceList, USUAL_LISTS};
pub use loader::loader_asks_below;
pub use summary::{
    AbsentName, CallWithoutEnd, OtherDirectories, RepeatedQuestion, SearchPath, SearchedDirectory,
    TraceBranch, TraceCall, TraceCounts, TraceDirectory, TraceKind, TraceLookups, TraceNeverBack,
    TraceProgram, TraceRepeats, TraceSlot, TraceSummary, TraceTime, TraceTimeLine, TraceVain, VainDirectory,
    WaitEnd,
};
