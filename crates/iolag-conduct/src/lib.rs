//! Conducting: from what was planned to what is stored.
//!
//! ```text
//! scouts -> announcement -> writer (ready) -> measurers -> watch -> clean-up -> writer (done) -> result
//! ```
//! Invariants: everything that touches a file system happens in a child, and the keeper survives each of them hanging; no command
//! line is known here and nothing is printed, an [`Attendant`] is told what happens.

mod contact;
pub mod environment;
mod failure;
mod measurers;
mod messages;
mod placed;
mod run;
mod storing;

pub use contact::scout::{
    Answer, CONTACT_REQUESTS, Contact, PLACE_REQUESTS, Patience, Steps, absolute, ask, ask_all,
    ask_all_patiently, contact_all, contact_all_patiently, look_at, reach, unanswered,
};
pub use contact::start::{Found, Keeper, become_keeper, leave_current_directory, send_scouts};
pub use environment::limits::{Limits, Tables};
pub use failure::{ExitCode, Failure};
pub use measurers::check::{CheckAssignment, CheckedDirectory, Role, measure as measure_check};
pub use measurers::flight::PingFlight;
pub use measurers::metadata::{
    MetadataAssignment, makes_working_set, measure as measure_metadata, removes_working_set,
};
pub use measurers::ping::{PingAssignment, measure as measure_ping, schedule as ping_schedule};
pub use messages::{DirectoryFacts, MeasurerEnd, ScoutAnswer, Stored};
pub use placed::Placed;
pub use run::attendant::{Attendance, Attendant, Round};
pub use run::beginning::{Beginning, choose_spool, maker, new_run_id, record};
pub use run::cleaning::{CleanUp, remove as remove_place};
pub use run::conduct::{Conducted, GroupPlan, Measure, RunPlan, conduct};
pub use run::policy::{AtSignal, Policy, Schedule};
pub use storing::draining::{Busy, Draining, Patience as DrainingPatience, Source};
pub use storing::place::{
    RescuePlaces, STORE_DEADLINE, StoreChoice, continuation, device_of, open as open_store_at, put_in_order,
    usual_root,
};
pub use storing::summarising::summarise;
