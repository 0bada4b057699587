//! `[facts]`: what the user knows of this host, as a text, a file or a command.

use std::path::PathBuf;

use iolag_conduct::environment::site_facts::FACTS_MAX;
use iolag_model::Configuration;
use iolag_watch::{FactSource, PlannedFact};
use toml::{Spanned, Value};

use super::plan::Planning;
use crate::documents::{DocumentError, Text};

/// What the value of a fact may be.
const FORMS: &str = "a text in quotes, { file = \"/path\" }, or { command = [\"program\", \"argument\"] }, and one of them only";

/// The program that a fact names, as it is written.
pub(super) fn program_of_fact(value: &Spanned<Value>) -> Option<String> {
    Some(value.get_ref().get("command")?.as_array()?.first()?.as_str()?.to_owned())
}

impl Planning<'_> {
    /// The facts of the file, by name.
    ///
    /// # Errors
    /// One sentence with file and line.
    pub(super) fn facts(&self) -> Result<Vec<PlannedFact>, DocumentError> {
        if let Some(name) = self.own.facts.keys().nth(FACTS_MAX) {
            let message =
                format!("{} facts are too many: expected at most {FACTS_MAX}", self.own.facts.len());
            return Err(self.source.error(name, message));
        }
        let facts = self.own.facts.iter();
        facts.map(|(name, value)| self.fact(name, value)).collect()
    }

    fn fact(&self, name: &Text, value: &Spanned<Value>) -> Result<PlannedFact, DocumentError> {
        self.check_name(name)?;
        let wrong = || self.source.error(value, format!("the fact {}: expected {FORMS}", name.get_ref()));
        let only =
            value.get_ref().as_table().filter(|table| table.len() == 1).and_then(|table| table.iter().next());
        let source = match (value.get_ref(), only) {
            (Value::String(text), _) if text.trim().is_empty() => {
                return Err(self.source.error(value, format!("the fact {} is empty", name.get_ref())));
            }
            (Value::String(text), _) => FactSource::Text(text.clone()),
            (_, Some((key, Value::String(path)))) if key == "file" => {
                let path = PathBuf::from(path);
                if !path.is_absolute() {
                    let message =
                        format!("the fact {}: expected the path of a file from / on", name.get_ref());
                    return Err(self.source.error(value, message));
                }
                FactSource::File(path)
            }
            (_, Some((key, Value::Array(words)))) if key == "command" => {
                let word = |word: &Value| Some(Spanned::new(value.span(), word.as_str()?.to_owned()));
                let words = words.iter().map(word).collect::<Option<Vec<Text>>>().ok_or_else(wrong)?;
                FactSource::Command(self.command(&words, name)?)
            }
            _ => return Err(wrong()),
        };
        Ok(PlannedFact { name: name.get_ref().clone(), source })
    }

    fn check_name(&self, name: &Text) -> Result<(), DocumentError> {
        const CHARACTERS_MAX: usize = 64;
        let text = name.get_ref().as_str();
        let is_plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_');
        let message = if text.is_empty() || text.len() > CHARACTERS_MAX || !text.chars().all(is_plain) {
            format!(
                "{text:?} is no name for a fact: expected letters, digits, - and _, {CHARACTERS_MAX} at most"
            )
        } else if !Configuration::is_given(text) {
            format!("{text} is a fact that iolag finds out itself; give this one another name")
        } else {
            return Ok(());
        };
        Err(self.source.error(name, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watching::{Wishes, plan};

    fn facts(text: &str) -> Result<Vec<PlannedFact>, String> {
        let wishes = Wishes {
            host: "node".into(),
            targets: vec![PathBuf::from("/home/me").into()],
            tasks: Vec::new(),
            every: None,
            home: None,
            shell: "/bin/sh".into(),
            control: "/dev/shm/iolag-1/control".into(),
            runtime: "/dev/shm/iolag-1/x".into(),
            programs: [("rpm".to_owned(), PathBuf::from("/usr/bin/rpm"))].into(),
        };
        plan("iolag.toml", text, &wishes).map(|plan| plan.facts).map_err(|error| error.to_string())
    }

    #[test]
    fn a_fact_is_a_text_a_file_or_a_command() {
        let text = "[facts]\nslots = \"28\"\nafs_client = { command = [\"rpm\", \"-q\", \"openafs\"] }\ntuning = { file = \"/etc/tuning\" }\n";
        let found = facts(text).unwrap();
        let source = |name: &str| &found.iter().find(|fact| fact.name == name).unwrap().source;
        assert_eq!(source("slots"), &FactSource::Text("28".to_owned()));
        assert_eq!(source("tuning"), &FactSource::File("/etc/tuning".into()));
        let command = ["/usr/bin/rpm", "-q", "openafs"].map(str::to_owned).into();
        assert_eq!(source("afs_client"), &FactSource::Command(command));
        let document = crate::watching::Document::parse("f", text).unwrap();
        assert_eq!(crate::watching::programs(&document), ["rpm".to_owned()].into());
    }

    #[test]
    fn what_is_none_is_told_with_file_and_line() {
        let refused = |line: &str| facts(&format!("[facts]\na = \"1\"\n{line}\n")).unwrap_err();
        for (line, told) in [
            ("slots = 28", "the fact slots: expected a text in quotes"),
            ("slots = \" \"", "the fact slots is empty"),
            ("slots = { file = \"etc/x\" }", "the fact slots: expected the path of a file from / on"),
            ("slots = { file = \"/x\", command = [\"rpm\"] }", "the fact slots: expected a text in quotes"),
            ("slots = { command = \"rpm -q\" }", "the fact slots: expected a text in quotes"),
            ("slots = { command = [] }", "the command of slots is empty"),
            ("slots = { command = [\"rpm\", 3] }", "the fact slots: expected a text in quotes"),
            ("slots = { command = [\"nothere\"] }", "the program \"nothere\" is not to be found in $PATH"),
            ("kernel = \"6\"", "kernel is a fact that iolag finds out itself"),
            ("\"client: afs\" = \"6\"", "\"client: afs\" is no name for a fact"),
        ] {
            let told = format!("iolag.toml:3: {told}");
            assert!(refused(line).starts_with(&told), "{line}: {}", refused(line));
        }
        let many: String = (0..=FACTS_MAX).map(|number| format!("f{number:03} = \"1\"\n")).collect();
        assert!(refused(&many).starts_with("iolag.toml:"), "{}", refused(&many));
        assert!(facts("facts = 3").unwrap_err().starts_with("iolag.toml:1: "));
    }
}
