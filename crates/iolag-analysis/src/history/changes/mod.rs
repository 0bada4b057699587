//! Levels that changed for good, and which event may explain it.

pub(crate) mod change_point;
pub(crate) mod direction;
pub(crate) mod drift;
pub(crate) mod event_effect;
pub(crate) mod event_matching;
pub(crate) mod levels;
pub(crate) mod moment;
pub(crate) mod nights;
pub(crate) mod options;
pub(crate) mod record;
pub(crate) mod runs;
pub(crate) mod search;
pub(crate) mod selection;
pub(crate) mod spells;
