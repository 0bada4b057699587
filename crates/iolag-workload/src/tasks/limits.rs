//! When a task is not to go on.

use std::fmt;
use std::sync::Arc;

use iolag_model::{Clock, MonotonicClock, MonotonicTime};

/// By which clock tasks are ended, and who says that everything is to stop.
pub struct TaskLimits {
    clock: Arc<dyn Clock>,
    is_stopped: Box<dyn Fn() -> bool + Send>,
}

impl TaskLimits {
    /// Limits by `clock`, and for as long as not `is_stopped`; that is asked often and must be quick.
    pub fn new(clock: Arc<dyn Clock>, is_stopped: impl Fn() -> bool + Send + 'static) -> Self {
        Self { clock, is_stopped: Box::new(is_stopped) }
    }

    /// Whether what was to end at `until` is to end now.
    pub(crate) fn are_reached(&self, until: MonotonicTime) -> bool {
        (self.is_stopped)() || (until != MonotonicTime(u64::MAX) && self.clock.now() >= until)
    }
}

impl Default for TaskLimits {
    /// The real clock; nobody says stop.
    fn default() -> Self {
        Self::new(Arc::new(MonotonicClock), || false)
    }
}

impl fmt::Debug for TaskLimits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TaskLimits").finish_non_exhaustive()
    }
}
