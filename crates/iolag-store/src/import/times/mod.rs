//! When rows were: which format their times have, and which moments they are.

pub(super) mod column;
pub(super) mod format_evidence;
pub(super) mod moments;
pub(super) mod row_times;
pub(super) mod time_text;
