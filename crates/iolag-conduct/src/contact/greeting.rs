//! The first contact with a server: by a child with a deadline, which comes there, says who we are and waits for an answer.

use std::sync::Arc;

use iolag_backend::{Description, Greeting, Target};
use iolag_model::{ContactPart, MonotonicClock, Nanoseconds, ServerRecord, Trust};
use serde::{Deserialize, Serialize};

use crate::contact::scout::{Answer, ask_all};
use crate::exit_code::ExitCode;
use crate::failure::Failure;

/// A server as a scout found it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServerFacts {
    /// What is kept of it.
    pub record: ServerRecord,
    /// What makes the target the same for whoever has other variables and files.
    settings: Vec<(String, String)>,
    /// What to know about it.
    pub doubt: Option<Trust>,
}

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

/// What a server says; `None` if it is none. To be called in a process that may hang.
pub fn greet_here(target: &Target) -> Result<Option<ServerFacts>, String> {
    if !target.is_server() {
        return Ok(None);
    }
    // Nothing is made: any name will do.
    let backend = target.backend(iolag_backend::WORKING_NAME, Arc::new(MonotonicClock));
    let greeting = backend.and_then(|backend| Ok((backend.greet()?, backend.describe())));
    let (greeting, description) = greeting.map_err(|error| error.to_string())?;
    Ok(greeting.map(|greeting| facts_of(greeting, &description)))
}

fn facts_of(greeting: Greeting, description: &Description) -> ServerFacts {
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
    }
}
