//! The first contact with a server: by a child with a deadline, which comes there, says who we are and waits for an answer.

use std::sync::Arc;

use iolag_backend::{BackendError, Description, Greeting, Target};
use iolag_model::{Clock, ContactPart, MonotonicClock, Nanoseconds, ServerRecord, Trust};
use serde::{Deserialize, Serialize};

use crate::contact::scout::{Answer, ask_all};
use crate::exit_code::ExitCode;
use crate::failure::Failure;

/// Requests of a first contact with a server.
pub const SERVER_CONTACT_REQUESTS: u64 = 1;
/// Requests of making a working place on one, at least: to look whether it is free, and to mark it.
pub const SERVER_PLACE_REQUESTS: u64 = 2;

/// A server as a scout found it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServerFacts {
    /// What is kept of it.
    pub record: ServerRecord,
    /// What makes the target the same for whoever has other variables and files.
    settings: Vec<(String, String)>,
    /// What to know about it.
    pub doubt: Option<Trust>,
    /// How long it took to come there and to hear the first answer.
    pub contact_ns: Nanoseconds,
}

/// What a scout answers of a server that stands beside other targets: facts, or why not, without its name.
pub type ServerAnswer = Result<ServerFacts, String>;

impl ServerFacts {
    /// The target with what was found out about it.
    pub fn settled(&self, target: &Target) -> Target {
        target.with_settings(&self.settings)
    }
}

/// What the servers among the targets say; `None` for one that is no server.
///
/// # Errors
/// If one is not reached, does not let us in, or does not answer within the deadline.
pub fn greet(targets: &[&Target], deadline: Nanoseconds) -> Result<Vec<Option<ServerFacts>>, Failure> {
    let answers = ask_all("scout", targets, deadline, |target| greet_here(target))?;
    let facts = |(target, answer): (&&Target, Answer<Result<Option<ServerFacts>, String>>)| match answer {
        Answer::Given(facts) => facts.map_err(Failure::unusable),
        Answer::None { age, .. } => Err(Failure {
            code: ExitCode::Incomplete,
            sentence: format!("{target} does not answer: the first contact has been waiting for {age}"),
        }),
    };
    targets.iter().zip(answers).map(facts).collect()
}

/// Greets a server. To be called in a process that may hang.
pub fn look_at_server(target: &Target) -> ServerAnswer {
    match meet(target) {
        Ok(facts) => facts.ok_or_else(|| "it is no server".to_owned()),
        Err(BackendError::Server { said, .. }) => Err(said),
        Err(error) => Err(error.to_string()),
    }
}

/// What a server says; `None` if it is none. To be called in a process that may hang.
pub fn greet_here(target: &Target) -> Result<Option<ServerFacts>, String> {
    meet(target).map_err(|error| error.to_string())
}

fn meet(target: &Target) -> Result<Option<ServerFacts>, BackendError> {
    if !target.is_server() {
        return Ok(None);
    }
    let start = MonotonicClock.now();
    // Nothing is made: any name will do.
    let backend = target.backend(iolag_backend::WORKING_NAME, Arc::new(MonotonicClock))?;
    let (greeting, description) = (backend.greet()?, backend.describe());
    let contact_ns = MonotonicClock.now().since(start);
    Ok(greeting.map(|greeting| facts_of(greeting, &description, contact_ns)))
}

fn facts_of(greeting: Greeting, description: &Description, contact_ns: Nanoseconds) -> ServerFacts {
    let part =
        |mark: &iolag_backend::Mark| ContactPart { operation: mark.operation, duration_ns: mark.duration };
    let doubt = |doubt| {
        let advice = "measure also without it, to tell its share".to_owned();
        Trust { doubt, advice }
    };
    ServerFacts {
        record: ServerRecord {
            software: greeting.software,
            address: greeting.address,
            protection: greeting.protection.map(str::to_owned),
            operations: Some(format!("On {}: {}.", description.kind, description.semantics)),
            parts: greeting.parts.iter().map(part).collect(),
        },
        settings: greeting.settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        doubt: greeting.remark.map(doubt),
        contact_ns,
    }
}
