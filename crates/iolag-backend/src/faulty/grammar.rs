//! `faulty:RULE[,RULE]…:INNER`, where RULE is `[OPERATION:]FAULT@WHEN`.
//!
//! FAULT is the lower-case name of an errno (`eio`, `enospc`, …), `short`, `hang` or `hang=DURATION`; WHEN is a probability
//! (`@0.01`) or the n-th matching operation of each client (`@#100`, from 1). WHEN holds neither `,` nor `:`, so the
//! colon after it begins INNER.

use iolag_model::{FailureCode, Nanoseconds, Operation, parse_duration};

use crate::delayed::parse_operation;

/// The errors that can be injected, by name.
pub(crate) const ERRORS: &[(&str, i32)] = &[
    ("eacces", libc::EACCES),
    ("eagain", libc::EAGAIN),
    ("ebusy", libc::EBUSY),
    ("econnreset", libc::ECONNRESET),
    ("edquot", libc::EDQUOT),
    ("eexist", libc::EEXIST),
    ("eintr", libc::EINTR),
    ("eio", libc::EIO),
    ("emfile", libc::EMFILE),
    ("enoent", libc::ENOENT),
    ("enospc", libc::ENOSPC),
    ("enotconn", libc::ENOTCONN),
    ("enotempty", libc::ENOTEMPTY),
    ("enotsup", libc::EOPNOTSUPP),
    ("eperm", libc::EPERM),
    ("erofs", libc::EROFS),
    ("estale", libc::ESTALE),
    ("etimedout", libc::ETIMEDOUT),
];

/// What goes wrong, to what, and when.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rule {
    /// The operation, or every one that can fail in this way.
    pub(crate) operation: Option<Operation>,
    /// What goes wrong.
    pub(crate) fault: Fault,
    /// When.
    pub(crate) when: When,
}

impl Rule {
    /// Whether the rule is about this operation.
    pub(crate) fn concerns(&self, operation: Operation) -> bool {
        match self.operation {
            Some(named) => named == operation,
            None => self.fault != Fault::Short || moves_bytes(operation),
        }
    }
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The target is not asked; this is the answer.
    Error(FailureCode),
    /// Half of the bytes are moved.
    Short,
    /// The operation begins this much later.
    HangFor(Nanoseconds),
    /// The operation never begins.
    HangForEver,
}

/// When it goes wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum When {
    /// For each operation with this probability.
    Probability(f64),
    /// For the n-th operation of a client, from 1.
    Nth(u64),
}

/// Parses the rules; returns them with the text after the colon that ends them. An error says where and what was
/// expected.
pub(crate) fn parse_rules(text: &str) -> Result<(Vec<Rule>, &str), String> {
    let mut rules = Vec::new();
    let mut rest = text;
    loop {
        let number = rules.len() + 1;
        let (head, after) = rest.split_once('@').ok_or_else(|| {
            format!("rule {number} ({rest:?}) has no @: expected a rule such as eio@0.01 or stat:hang@#100")
        })?;
        let end = after.find([',', ':']).ok_or_else(|| {
            format!(
                "after rule {number} there is no target: expected a colon and a target, such as :/scratch/me"
            )
        })?;
        let (when, after) = after.split_at(end);
        rules.push(parse_rule(head, when).map_err(|reason| format!("in rule {number}, {reason}"))?);
        match after.strip_prefix(':') {
            Some(inner) => return Ok((rules, inner)),
            None => rest = &after[1..],
        }
    }
}

fn parse_rule(head: &str, when: &str) -> Result<Rule, String> {
    let (operation, fault) = match head.split_once(':') {
        Some((name, fault)) => (Some(parse_operation(name)?), parse_fault(fault)?),
        None => (None, parse_fault(head)?),
    };
    if let Some(operation) = operation
        && fault == Fault::Short
        && !moves_bytes(operation)
    {
        return Err(format!("{operation} moves no bytes and cannot be short"));
    }
    Ok(Rule { operation, fault, when: parse_when(when)? })
}

fn parse_fault(text: &str) -> Result<Fault, String> {
    if let Some(duration) = text.strip_prefix("hang=") {
        return parse_duration(duration).map(Fault::HangFor).map_err(|error| error.to_string());
    }
    match text {
        "short" => Ok(Fault::Short),
        "hang" => Ok(Fault::HangForEver),
        _ => ERRORS
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, errno)| Fault::Error(FailureCode::from_errno(*errno)))
            .ok_or_else(|| {
                let names: Vec<&str> = ERRORS.iter().map(|(name, _)| *name).collect();
                format!(
                    "{text:?} is not a fault: expected short, hang, hang=30s, or one of {}",
                    names.join(" ")
                )
            }),
    }
}

fn parse_when(text: &str) -> Result<When, String> {
    let when = match text.strip_prefix('#') {
        Some(nth) => nth.parse().ok().filter(|nth| *nth > 0).map(When::Nth),
        None => text.parse().ok().filter(|p| (0.0..=1.0).contains(p)).map(When::Probability),
    };
    when.ok_or_else(|| {
        format!("{text:?} after @ is neither a probability from 0 to 1 nor a number such as #100 (from #1)")
    })
}

fn moves_bytes(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::Create
            | Operation::Read
            | Operation::Write
            | Operation::WriteDurably
            | Operation::CallRead
            | Operation::CallWrite
            | Operation::StreamRead
            | Operation::StreamWrite
            | Operation::StreamRewrite
            | Operation::StreamRandomRead
            | Operation::StreamRandomWrite
            | Operation::StreamCopy
            | Operation::TreeRead
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rules_are_separated_by_commas_and_ended_by_a_colon() {
        let text = "stat:eio@0.1,write:short@0.05,read:hang=30s@#100,hang@#1000:posix:/scratch/a,b@c:d";
        let (rules, inner) = parse_rules(text).unwrap();
        assert_eq!(inner, "posix:/scratch/a,b@c:d");
        let eio = Fault::Error(FailureCode::from_errno(libc::EIO));
        assert_eq!(
            rules,
            [
                Rule { operation: Some(Operation::Stat), fault: eio, when: When::Probability(0.1) },
                Rule {
                    operation: Some(Operation::Write),
                    fault: Fault::Short,
                    when: When::Probability(0.05)
                },
                Rule {
                    operation: Some(Operation::Read),
                    fault: Fault::HangFor(Nanoseconds::from_seconds(30)),
                    when: When::Nth(100)
                },
                Rule { operation: None, fault: Fault::HangForEver, when: When::Nth(1000) },
            ]
        );
    }

    #[test]
    fn an_error_says_where_and_what_was_expected() {
        for (text, expected) in [
            ("", "rule 1 (\"\") has no @"),
            ("eio@0.1", "after rule 1 there is no target"),
            ("eio@0.1,memory:", "rule 2 (\"memory:\") has no @"),
            ("eioo@0.1:memory:", "in rule 1, \"eioo\" is not a fault: expected short, hang"),
            ("eio@0.1,stta:eio@0.1:memory:", "in rule 2, \"stta\" is not an operation"),
            ("eio@1.5:memory:", "in rule 1, \"1.5\" after @ is neither a probability"),
            ("eio@#0:memory:", "\"#0\" after @"),
            ("eio@nan:memory:", "\"nan\" after @"),
            ("hang=5@#1:memory:", "\"5\" is not a duration"),
            ("stat:short@0.1:memory:", "stat moves no bytes"),
        ] {
            let error = parse_rules(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "([a-z]{0,6}:?(eio|short|hang|hang=1s)?@#?[0-9.]{0,4}[,:]?){0,4}|\\PC{0,60}") {
            if let Ok((rules, inner)) = parse_rules(&text) {
                prop_assert!(!rules.is_empty());
                prop_assert!(text.ends_with(inner));
            }
        }
    }
}
