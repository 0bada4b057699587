//! What is chosen of a bench, whatever its workload.

use iolag_analysis::RUN_LOOKS;
use iolag_model::{
    BystanderSpec, BystanderTask, CacheState, JobTerms, Nanoseconds, OnError, OnHang, Order, Stopping,
};

use crate::bench::payload::finding::PayloadCommand;
use crate::bench::sides::Side;
use crate::failure::Failure;

/// How long a run waits for a hung operation that it is to wait for.
const GIVE_UP_AFTER: Nanoseconds = Nanoseconds::from_seconds(3600);

/// How often a bystander asks, a second.
const BYSTANDER_RATE: f64 = 10.0;
/// How long it measures before and after the load.
const BYSTANDER_QUIET: Nanoseconds = Nanoseconds::from_seconds(5);

/// What every bench is told besides its workload, with its defaults: the one place of them.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchOptions {
    /// What the campaign is called, if a plan gives it a name.
    pub name: Option<String>,
    /// Where to measure.
    pub sides: Vec<Side>,
    /// Clients per side; several numbers make a sweep.
    pub clients: Vec<u64>,
    /// What they are.
    pub crew: Crew,
    /// How often everything is done.
    pub repeat: Repeating,
    /// In which order.
    pub order: Order,
    /// After this long an operation counts as hung.
    pub deadline: Nanoseconds,
    /// What a hung operation does to the run.
    pub on_hang: OnHang,
    /// What a failed request does to the run.
    pub on_error: OnError,
    /// Where it is waited for: how long; else an hour.
    pub give_up_after: Option<Nanoseconds>,
    /// Shared memory for samples, at most; else what is usual for the number of clients.
    pub buffer_bytes: Option<u64>,
    /// Name of the working directory in the target.
    pub working_name: String,
    /// Seed of everything random.
    pub seed: u64,
    /// What caches hold when a stage begins.
    pub caches: CacheState,
    /// What drops the caches of servers, for a shell.
    pub drop_command: Option<String>,
    /// What each copy runs once it is set up, if that is a command.
    pub payload: Option<PayloadCommand>,
    /// Who measures beside the load, if somebody is to.
    pub bystander: Option<BystanderSpec>,
    /// Where copies are made.
    pub copy_to: CopyTo,
    /// What the user attaches.
    pub labels: Vec<(String, String)>,
}

impl Default for BenchOptions {
    fn default() -> Self {
        Self {
            name: None,
            sides: Vec::new(),
            clients: vec![1],
            crew: Crew::Clients,
            repeat: Repeating::default(),
            order: Order::default(),
            deadline: Nanoseconds::from_seconds(15),
            on_hang: OnHang::Continue,
            on_error: OnError::Continue,
            give_up_after: None,
            buffer_bytes: None,
            working_name: "iolag-work".to_owned(),
            seed: 1,
            caches: CacheState::Asis,
            drop_command: None,
            payload: None,
            bystander: None,
            copy_to: CopyTo::All,
            labels: Vec::new(),
        }
    }
}

impl BenchOptions {
    /// How long a hung operation is waited for.
    pub(super) fn patience(&self) -> Nanoseconds {
        match self.on_hang {
            OnHang::Wait => self.give_up_after.unwrap_or(GIVE_UP_AFTER),
            OnHang::Continue | OnHang::Stop => self.deadline,
        }
    }

    /// What is asked of copies, with what they run.
    pub(super) fn with_payload(&self, terms: &JobTerms) -> Result<JobTerms, Failure> {
        let payload_command = self.payload.as_ref().map(PayloadCommand::shown);
        let terms = JobTerms { payload_command, ..terms.clone() };
        terms.flaw().map_or(Ok(terms), |flaw| Err(Failure::usage(flaw)))
    }

    pub(super) fn is_swept(&self) -> bool {
        self.clients.len() > 1 || self.repeat.blocks() > 1
    }
}

/// Who measures beside the load, as it is said by `--bystander`, `--bystander-rate` and `--bystander-quiet`, which are also keys of plans.
///
/// # Errors
/// If nobody is to measure, and it is said how.
pub fn bystander(
    asked: Option<Vec<BystanderTask>>,
    rate_per_second: Option<f64>,
    quiet: Option<Nanoseconds>,
) -> Result<Option<BystanderSpec>, Failure> {
    let refused =
        |option: &str| Err(Failure::usage(format!("{option} needs --bystander: who is to measure?")));
    match (asked, rate_per_second, quiet) {
        (Some(asked), rate, quiet) => Ok(Some(BystanderSpec {
            asked,
            rate_per_second: rate.unwrap_or(BYSTANDER_RATE),
            quiet_ns: quiet.unwrap_or(BYSTANDER_QUIET),
        })),
        (None, Some(_), _) => refused("--bystander-rate"),
        (None, None, Some(_)) => refused("--bystander-quiet"),
        (None, None, None) => Ok(None),
    }
}

/// What the clients of a bench are, and how users call them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crew {
    /// Threads of one process.
    Clients,
    /// Processes, each with one of them.
    Copies,
}

impl Crew {
    /// The coordinate of a sweep over their number.
    pub const fn coordinate(self) -> &'static str {
        match self {
            Self::Clients => "clients",
            Self::Copies => "copies",
        }
    }

    /// The option that sets their number.
    pub const fn option(self) -> &'static str {
        match self {
            Self::Clients => "--clients",
            Self::Copies => "--copies",
        }
    }
}

/// Where the files of a target are copied to, if several are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyTo {
    /// To each of them in turn.
    All,
    /// To where they are.
    Own,
}

impl CopyTo {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::All, Self::Own];

    /// As it is typed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Own => "own",
        }
    }
}

/// How often everything is done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Repeating {
    /// So often.
    Times(u64),
    /// Until the comparison of the sides is precise enough, or the time is up.
    UntilPrecise(Stopping),
}

impl Default for Repeating {
    fn default() -> Self {
        Self::Times(1)
    }
}

impl Repeating {
    /// What is meant by `--repeat`, `--precision` and `--budget`, which are also keys of plans.
    ///
    /// # Errors
    /// If they do not go together: what the user has to say instead.
    pub fn of(
        repeat: Option<u64>,
        precision: Option<f64>,
        budget: Option<Nanoseconds>,
    ) -> Result<Self, Failure> {
        let refused = |sentence: &str| Err(Failure::usage(sentence));
        match (repeat, precision, budget) {
            (None, None, None) => Ok(Self::default()),
            (Some(times), None, None) => Ok(Self::Times(times)),
            (None, Some(precision), Some(budget_ns)) => {
                Ok(Self::UntilPrecise(Stopping { precision, budget_ns }))
            }
            (_, Some(_), None) => refused("--precision needs --budget: how long may it take at most?"),
            (_, None, Some(_)) => refused(
                "--budget needs --precision: how narrow are the intervals of the comparison to be? For a number of repetitions there is --repeat",
            ),
            (Some(_), Some(_), Some(_)) => refused(
                "--precision decides how often everything is done: leave out --repeat, or --precision and --budget",
            ),
        }
    }

    /// How many blocks there are, at most.
    pub const fn blocks(self) -> u64 {
        match self {
            Self::Times(times) => times,
            Self::UntilPrecise(_) => RUN_LOOKS[RUN_LOOKS.len() - 1] as u64,
        }
    }

    pub(super) const fn stopping(self) -> Option<Stopping> {
        match self {
            Self::Times(_) => None,
            Self::UntilPrecise(stopping) => Some(stopping),
        }
    }

    /// What stands before the number of its runs.
    pub const fn at_most(self) -> &'static str {
        match self {
            Self::Times(_) => "",
            Self::UntilPrecise(_) => "up to ",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precision_and_budget_need_each_other_and_no_number_of_repetitions() {
        let (five, minutes) = (Some(0.05), Some(Nanoseconds::from_seconds(600)));
        let precise = Repeating::of(None, five, minutes).unwrap();
        assert_eq!((precise.blocks(), precise.stopping().unwrap().precision), (63, 0.05));
        assert_eq!(Repeating::of(Some(4), None, None).unwrap(), Repeating::Times(4));
        assert_eq!(Repeating::of(None, None, None).unwrap(), Repeating::Times(1));
        for (repeat, precision, budget, expected) in [
            (None, five, None, "--precision needs --budget: how long"),
            (Some(4), five, None, "--precision needs --budget: how long"),
            (None, None, minutes, "--budget needs --precision: how narrow"),
            (Some(4), None, minutes, "--budget needs --precision: how narrow"),
            (Some(1), five, minutes, "--precision decides how often everything is done: leave out --repeat"),
        ] {
            let refused = Repeating::of(repeat, precision, budget).unwrap_err().sentence;
            assert!(refused.starts_with(expected), "{refused}");
        }
    }
}
