//! What the caller says about a file; what is not said is guessed from the whole file and shown.

pub(super) mod file_options;
pub(super) mod import_options;
pub(super) mod option_error;
pub(super) mod time_options;
pub(super) mod value_options;
