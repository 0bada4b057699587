//! The sides of a plan: its targets, and the commands that make them.

use iolag_backend::Target;
use iolag_conduct::{Side, SideCommand, absolute};
use iolag_model::{Nanoseconds, one_line};

use super::document::{CommandTable, SideTable};
use super::plan::{Ground, Planning};
use crate::documents::{DocumentError, Text, command_of};

/// How long a command of a side may take if the file does not say.
const COMMAND_DEADLINE: Nanoseconds = Nanoseconds::from_seconds(60);

impl Planning<'_> {
    /// A tree of a side is for a bench that reads it.
    pub(super) fn refuse_trees_of_nobody(&self) -> Result<(), DocumentError> {
        let reads = self.document.bench.iter().any(|bench| bench.get_ref().workload.get_ref() == "tree");
        let tree = self.document.side.iter().find_map(|side| side.tree.as_ref()).filter(|_| !reads);
        let message =
            "tree is read by [[bench]] workload = \"tree\", and there is none: leave it out, or write one";
        tree.map_or(Ok(()), |tree| Err(self.source.error(tree, message)))
    }

    /// The sides of the file, what is typed in the place of a target that it leaves open; without any, what is typed.
    pub(super) fn sides(&self, ground: Ground) -> Result<Vec<Side>, DocumentError> {
        let (tables, typed) = (&self.document.side, &self.wishes.targets);
        let is_open = |table: &&SideTable| table.target.is_none();
        if tables.is_empty() && typed.is_empty() {
            let file = self.source.file;
            return Err(self.source.nothing(format!(
                "there is nowhere to measure: name a target (iolag run {file} TARGET), or write a [[side]]"
            )));
        }
        if !tables.is_empty() && !typed.is_empty() && !tables.iter().any(|table| is_open(&table)) {
            let message = "every [[side]] of this plan has its target: leave out what is typed, or the target = of a side";
            return Err(self.source.error(&tables[0].name, message));
        }
        let mut sides: Vec<Side> = Vec::new();
        for table in tables {
            let more = self.sides_of(table, ground)?;
            // A target that is typed makes names as well.
            if let Some(again) = more.iter().find(|side| sides.iter().any(|other| other.name == side.name)) {
                let message =
                    format!("two sides are called {:?}: give each a name of its own", again.shown());
                return Err(self.source.error(&table.name, message));
            }
            sides.extend(more);
        }
        if tables.is_empty() {
            sides.extend(typed.iter().cloned().map(Side::from));
        }
        Ok(sides)
    }

    /// The side of a table; where its target is open, one for each that is typed.
    fn sides_of(&self, table: &SideTable, ground: Ground) -> Result<Vec<Side>, DocumentError> {
        let name = &self.name(&table.name)?;
        let named = match (&table.target, &self.wishes.targets[..]) {
            (Some(target), _) => vec![(self.target(target)?, name.clone())],
            (None, []) => {
                let file = self.source.file;
                let message = format!("{name} has no target: name one (iolag run {file} TARGET)");
                return Err(self.source.error(&table.name, message));
            }
            (None, [target]) => vec![(target.clone(), name.clone())],
            (None, several) => several
                .iter()
                .map(|target| {
                    // One place has one name, from wherever the plan is run or gone on with.
                    let target = absolute_target(target);
                    let name = format!("{name} {}", one_line(&target.to_string()));
                    (target, name)
                })
                .collect(),
        };
        let tree = table.tree.as_ref().filter(|_| ground == Ground::Trees);
        if let (Some(tree), [_, _, ..]) = (tree, &named[..]) {
            let message = "one tree cannot be that of several targets: write a [[side]] for each of them";
            return Err(self.source.error(tree, message));
        }
        let tree = tree.map(|tree| self.target(tree)).transpose()?;
        let labels = self.labels(&table.labels, &self.common_labels())?;
        let own = &labels[..table.labels.len()];
        let before = self.command(table.before.as_ref())?;
        let after = self.command(table.after.as_ref())?;
        let side = |(target, name)| Side {
            target: tree.clone().unwrap_or(target),
            name: Some(name),
            labels: own.to_vec(),
            before: before.clone(),
            after: after.clone(),
        };
        Ok(named.into_iter().map(side).collect())
    }

    /// A directory is one from / on: cron and a shell each start elsewhere, and mean the same place.
    fn target(&self, text: &Text) -> Result<Target, DocumentError> {
        let target =
            Target::parse(text.get_ref()).map_err(|error| self.source.error(text, error.to_string()))?;
        match target.directory() {
            Some(path) if path.is_relative() => {
                Err(self.source.error(text, "expected the path of a directory from / on, or another target"))
            }
            _ => Ok(target),
        }
    }

    fn command(&self, table: Option<&CommandTable>) -> Result<Option<SideCommand>, DocumentError> {
        let Some(table) = table else { return Ok(None) };
        if let Some(word) = table.command.get_ref().iter().find(|word| word.get_ref().contains('\0')) {
            return Err(self.source.error(word, "a word of a command cannot have a NUL in it"));
        }
        let command = command_of(&self.source, table.command.get_ref(), &self.wishes.programs)?;
        let command = command.ok_or_else(|| {
            self.source.error(&table.command, "the command is empty: expected a program and its arguments")
        })?;
        let deadline = table.deadline.as_ref().map(|text| self.source.duration(text)).transpose()?;
        Ok(Some(SideCommand { command, deadline: deadline.unwrap_or(COMMAND_DEADLINE) }))
    }
}

fn absolute_target(target: &Target) -> Target {
    target.directory().map_or_else(|| target.clone(), |path| target.with_directory(&absolute(path)))
}
