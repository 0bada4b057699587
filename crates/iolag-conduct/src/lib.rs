//! Conducting: from what was planned to what is stored.
//!
//! ```text
//! scouts -> announcement -> writer (ready) -> measurers -> watch -> clean-up -> writer (done) -> result
//! ```
//! Invariants: everything that touches a file system happens in a child, and the keeper survives each of them hanging; no command
//! line is known here and nothing is printed, an [`Attendant`] is told what happens.
//!
//! Who has clients of another kind makes a [`RunPlan`] and hands it to [`conduct()`]; `tests/contracts/bystander.rs` is a small example.

mod bench;
mod calibration;
mod check;
mod contact;
pub mod environment;
mod exit_code;
mod explain;
mod failure;
mod messages;
mod ping;
mod placed;
mod programs;
mod remember;
mod run;
mod storing;
mod trace;

pub use bench::campaign::{Campaign, PlannedRun};
pub use bench::compared::{compare_campaign, unit_of_stored};
pub use bench::conducting::{CampaignAttendant, CampaignEnd, conduct_campaign};
pub use bench::conductor::Conductor;
pub use bench::metadata::plan::plan_metadata;
pub use bench::options::{BenchOptions, CopyTo, Crew, Repeating, bystander};
pub use bench::payload::finding::PayloadCommand;
pub use bench::plan::plan_bench;
pub use bench::replay::looking::{LookedAt, look_for_paths};
pub use bench::replay::preparing::{Prepared, prepare_skeleton};
pub use bench::replay::reading::{Changing, ReadToRepeat, read_to_repeat, replay_scope};
pub use bench::replay::{Repeated, ReplayOptions, Stagger, plan_replay, refuse_other_than_directory};
pub use bench::set_up::plan_set_up;
pub use bench::sides::putting_back::not_put_back;
pub use bench::sides::{Side, SideCommand};
pub use bench::stream::{FileSize, plan_stream};
pub use bench::tree::plan_tree;
pub use check::conducting::{Checked, conduct_check};
pub use check::plan::{CheckOptions, PlannedCheck, plan_check};
pub use contact::greeting::{ServerFacts, greet_here};
pub use contact::scout::{
    Answer, Contact, Patience, Steps, absolute, ask, ask_all, ask_all_patiently, contact_all,
    contact_all_patiently, look_at, reach,
};
pub use contact::start::{Found, Keeper, become_keeper, leave_current_directory, send_scouts};
pub use environment::limits::{Limits, Needs};
pub use exit_code::ExitCode;
pub use explain::command::conduct_explain_command;
pub use explain::conducting::conduct_explain;
pub use failure::Failure;
pub use iolag_trace::{Scope as ReplayScope, Whereabouts};
pub use messages::{Stored, tags_of_run};
pub use ping::conducting::{PingAttendant, conduct_ping};
pub use ping::flight::PingFlight;
pub use ping::plan::{PingOptions, PlannedPing, plan_ping};
pub use placed::Placed;
pub use remember::{records_of, records_of_stored};
pub use run::beginning::running_state;
pub use run::cleaning::{CleanUp, remove as remove_place};
pub use run::conduct::{Conducted, GroupPlan, RunPlan, conduct};
pub use run::interruption::Interruption;
pub use run::policy::Policy;
pub use run::telling::{Attendance, Attendant, Round};
pub use storing::draining::{Busy, Draining, Patience as DrainingPatience, Source};
pub use storing::place::{
    RescuePlaces, STORE_DEADLINE, StoreChoice, device_of, open as open_store_at, put_in_order, usual_root,
};
pub use storing::summarising::{
    figures_without_samples, summarise, summarise_with_figures, values_of, values_of_all,
};
pub use trace::capture::{
    Capture, CaptureAttendant, CaptureSubject, Captured, Destination, Purpose, conduct_capture,
    perform_calibrating_calls,
};
pub use trace::converting::convert_to_trace;
pub use trace::reading::{
    SetUpLike, analyse_stored, anchor_at, environment_of, read_set_up_like, read_trace, record_of_trace_file,
    trace_content, traced_program,
};
pub use trace::storing::{NewTrace, TraceRun};
