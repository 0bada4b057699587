//! Programs as a user would run them: found, started, read, and killed with all that descends from them.

pub(crate) mod compiler;
pub(crate) mod descent;
pub(crate) mod inheritance;
pub(crate) mod last_line;
pub(crate) mod last_words;
pub(crate) mod launch;
pub(crate) mod prompt;
pub(crate) mod terminal;
pub(crate) mod usage;
