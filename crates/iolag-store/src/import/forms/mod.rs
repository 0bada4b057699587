//! The forms of files: tables, text logs, lists of events, the journal.

pub(super) mod event_list;
pub(super) mod journal;
pub(super) mod journal_rules;
pub(super) mod log;
pub(super) mod recognition;
pub(super) mod separated;
pub(super) mod table;
