//! From what the user wrote to a backend.

use std::path::PathBuf;
use std::sync::Arc;

use iolag_model::Clock;

use crate::faulty::parse_rules;
use crate::redact::redact;
use crate::{Backend, BackendError, DelayedBackend, FaultyBackend, MemoryBackend, PosixBackend};

/// Wrappers in wrappers, at most.
const DEPTH_MAX: usize = 8;

/// Kinds of target that this build can measure, as they are shown in errors.
const KNOWN: &str = "a directory, posix:DIRECTORY, memory:, delayed:DELAYS:TARGET, faulty:RULES:TARGET";

/// Kinds of target that iolag is designed for, and that this build has no backend for.
const LATER: &[&str] =
    &["s3", "http", "https", "dav", "davs", "postgres", "postgresql", "mongodb", "mpiio", "gsiftp", "root"];

/// Makes the backend for a target: a directory (`/scratch/me`, `posix:/scratch/me`), `memory:`,
/// `delayed:DELAYS:TARGET` or `faulty:RULES:TARGET`. Touches no target. `working_name` is the name of the working directory
/// in it; wrappers wait by `clock`.
///
/// # Errors
/// If the text has no such form; secrets in it are not repeated.
pub fn parse_target(
    text: &str,
    working_name: &str,
    clock: Arc<dyn Clock>,
) -> Result<Box<dyn Backend>, BackendError> {
    parse_nested(text, working_name, &clock, 0).map_err(|error| match error {
        // A wrapper knows only its own part; the user wants to see the whole that was written.
        BackendError::Target { reason, .. } => target_error(text, redact(&reason)),
        other => other,
    })
}

fn parse_nested(
    text: &str,
    working_name: &str,
    clock: &Arc<dyn Clock>,
    depth: usize,
) -> Result<Box<dyn Backend>, BackendError> {
    if depth > DEPTH_MAX {
        return Err(target_error(text, format!("more than {DEPTH_MAX} wrappers around each other")));
    }
    let Some((scheme, rest)) = scheme_of(text) else {
        return Ok(Box::new(PosixBackend::new(PathBuf::from(text), working_name)?));
    };
    let inner = |text: &str| parse_nested(text, working_name, clock, depth + 1);
    match scheme {
        "posix" => Ok(Box::new(PosixBackend::new(PathBuf::from(rest), working_name)?)),
        "memory" if rest.is_empty() => Ok(Box::new(MemoryBackend::new(working_name))),
        "memory" => Err(target_error(text, "expected nothing after memory:".to_owned())),
        "delayed" => {
            let (delays, target) = rest.split_once(':').ok_or_else(|| {
                target_error(
                    text,
                    "after the delays there is no target: expected delayed:5ms:/scratch/me".to_owned(),
                )
            })?;
            Ok(Box::new(DelayedBackend::new(delays, inner(target)?, Arc::clone(clock))?))
        }
        "faulty" => {
            let (_, target) = parse_rules(rest).map_err(|reason| target_error(text, reason))?;
            let rules = rest.strip_suffix(target).and_then(|rules| rules.strip_suffix(':')).unwrap_or(rest);
            Ok(Box::new(FaultyBackend::new(rules, inner(target)?, Arc::clone(clock))?))
        }
        _ if LATER.contains(&scheme) => Err(target_error(
            text,
            format!("this build has no backend for {scheme} targets; it measures {KNOWN}"),
        )),
        _ => Err(target_error(
            text,
            format!(
                "{scheme:?} is no kind of target; this build measures {KNOWN}; for a directory of that name write \
                 ./{scheme}:…"
            ),
        )),
    }
}

/// The scheme (RFC 3986: a letter, then letters, digits, `+`, `-`, `.`) and what is after its colon.
fn scheme_of(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_lowercase())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte));
    is_scheme.then_some((scheme, rest))
}

fn target_error(text: &str, reason: String) -> BackendError {
    BackendError::Target { target: redact(text), reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::SimulatedClock;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<Box<dyn Backend>, String> {
        parse_target(text, "iolag-work", Arc::new(SimulatedClock::default()))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn every_form_of_target_is_known() {
        for (text, kind, target) in [
            ("/scratch/me", "posix", "/scratch/me"),
            ("posix:/scratch/a:b", "posix", "/scratch/a:b"),
            ("/scratch/a:b", "posix", "/scratch/a:b"),
            ("memory:", "memory", "memory:"),
            ("delayed:5ms~exp,stat=1ms:memory:", "delayed", "delayed:5ms~exp,stat=1ms:memory:"),
            ("delayed:5ms:/a:b", "delayed", "delayed:5ms:/a:b"),
            (
                "faulty:stat:eio@0.1,hang@#1000:delayed:5ms:/a,b@c:d",
                "faulty",
                "faulty:stat:eio@0.1,hang@#1000:delayed:5ms:/a,b@c:d",
            ),
        ] {
            let description = parse(text).unwrap().describe();
            assert_eq!((description.kind, description.target.as_str()), (kind, target));
        }
    }

    #[test]
    fn an_error_is_one_sentence_with_what_was_expected() {
        for (text, expected) in [
            ("s3://host/bucket", "this build has no backend for s3 targets; it measures a directory"),
            ("ftp://host/", "\"ftp\" is no kind of target; this build measures a directory"),
            ("memory:x", "expected nothing after memory:"),
            ("delayed:5ms", "after the delays there is no target"),
            ("delayed:5:memory:", "\"5\" is not a duration"),
            ("faulty:eio@2:memory:", "in rule 1, \"2\" after @"),
            ("posix:", "expected the path of a directory"),
            ("", "expected the path of a directory"),
        ] {
            let error = parse(text).map(|backend| backend.describe()).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
            assert!(error.starts_with("cannot understand the target"), "{error}");
        }
        assert!(parse(&"delayed:0:".repeat(100_000)).is_err());
    }

    #[test]
    fn an_error_does_not_repeat_a_password() {
        for text in [
            "postgres://me:hunter2@host/db",
            "delayed:hunter2://a:hunter2@b",
            "faulty:eio@0.1:s3://a:hunter2@b",
        ] {
            let error = parse(text).map(|backend| backend.describe()).unwrap_err();
            assert!(!error.contains("me:hunter2") && !error.contains("a:hunter2"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(
            text in "((delayed|faulty|posix|memory|s3|x):(//)?([a-z0-9=~@#,./]{0,12}:?)){0,5}|\\PC{0,60}"
        ) {
            if let Ok(backend) = parse(&text) {
                prop_assert!(!backend.describe().target.is_empty());
            }
        }
    }
}
