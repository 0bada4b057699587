//! The spec of a run as a command that does the same again.

use iolag_model::{RunRecord, exact_duration};

use super::described::described;

/// Commands for a shell that do the same again, one in a line: what brought the side of the run into place and out of it, without secrets,
/// and between them iolag with every option that decides what is done.
pub(crate) fn spec_commands(run: &RunRecord) -> String {
    let side = run.plan.as_ref().and_then(|plan| plan.side.clone()).unwrap_or_default();
    let commands = [side.before, iolag_command(run), side.after];
    let commands: Vec<String> =
        commands.iter().filter(|words| !words.is_empty()).map(|words| shell_command(words)).collect();
    commands.join("\n")
}

fn iolag_command(run: &RunRecord) -> Vec<String> {
    let spec = &run.spec;
    let (command, options) = described(&spec.workload).command(run);
    let mut words = vec!["iolag".to_owned()];
    words.extend(command.iter().map(|word| (*word).to_owned()));
    // What a traced program does, and where, is its own affair.
    if spec.workload.trace().is_none() {
        words.extend(described(&spec.workload).places(&spec.targets));
    }
    words.extend(options);
    if spec.workload.trace().is_none() {
        words.extend(option("--deadline", exact_duration(spec.deadline_ns)));
        words.extend(option("--seed", spec.seed));
    }
    if !spec.on_error.is_continue() {
        words.extend(option("--on-error", spec.on_error));
    }
    if !spec.caches.is_asis() {
        words.extend(option("--caches", spec.caches));
        words.extend(spec.drop_command.iter().flat_map(|command| option("--drop-command", command)));
    }
    if let Some(bystander) = &spec.bystander {
        let asked: Vec<&str> = bystander.asked.iter().map(|task| task.name()).collect();
        words.extend(option("--bystander", asked.join(",")));
        words.extend(option("--bystander-rate", format!("{}/s", bystander.rate_per_second)));
        words.extend(option("--bystander-quiet", exact_duration(bystander.quiet_ns)));
    }
    words.extend(run.labels.iter().flat_map(|(name, value)| option("--label", format!("{name}={value}"))));
    words
}

pub(crate) fn option(name: &str, value: impl ToString) -> [String; 2] {
    [name.to_owned(), value.to_string()]
}

/// The working directory's name, unless it is the usual one.
pub(super) fn working_name(run: &RunRecord) -> Option<&str> {
    const USUAL: &str = "iolag-work";
    let place = run.targets.first()?.working_place.as_deref()?;
    place.rsplit('/').next().filter(|name| *name != USUAL)
}

/// Words quoted for a POSIX shell.
pub fn shell_command(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
    quoted.join(" ")
}

fn shell_word(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=,@%+".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        let words = ["iolag", "check", "/a b", "it's", "$(id)", ""].map(str::to_owned);
        assert_eq!(shell_command(&words), r"iolag check '/a b' 'it'\''s' '$(id)' ''");
    }
}
