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

    /// The limit of one task.
    pub(crate) const fn until(&self, until: MonotonicTime) -> TaskLimit<'_> {
        TaskLimit { limits: self, until }
    }
}

/// When one task is not to go on.
#[derive(Debug, Clone, Copy)]
pub struct TaskLimit<'a> {
    limits: &'a TaskLimits,
    until: MonotonicTime,
}

impl TaskLimit<'_> {
    /// Whether it is to end now.
    pub(crate) fn is_reached(self) -> bool {
        let is_over = || self.until != MonotonicTime(u64::MAX) && self.limits.clock.now() >= self.until;
        (self.limits.is_stopped)() || is_over()
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
