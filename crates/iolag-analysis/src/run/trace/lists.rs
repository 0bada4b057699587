//! Which list of directories it is that a program looks through, by the names that it looks for.

use iolag_model::{TraceProgram, TraceSummary, VainDirectory};

/// What programs look for in one directory after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Searched {
    /// Modules of Python.
    PythonModules,
    /// Shared libraries.
    Libraries,
    /// Programs.
    Programs,
    /// Modules of Perl.
    PerlModules,
    /// Headers of C.
    Headers,
    /// What a language needs.
    Locales,
    /// Nobody knows.
    Anything,
}

impl Searched {
    /// By a name that was looked for; nothing if it may be anything.
    fn of_name(name: &str) -> Option<Self> {
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        if ends(&[".py", ".pyc", ".pyi", ".egg-link", ".dist-info", ".pth"])
            || [".cpython-", ".abi3.", "__pycache__", "__init__"].iter().any(|part| name.contains(part))
        {
            return Some(Self::PythonModules);
        }
        if ends(&[".so"]) || name.contains(".so.") {
            return Some(Self::Libraries);
        }
        if ends(&[".pm", ".pmc"]) {
            return Some(Self::PerlModules);
        }
        if ends(&[".h", ".hpp", ".gch"]) {
            return Some(Self::Headers);
        }
        (name.starts_with("LC_") || ends(&[".mo"])).then_some(Self::Locales)
    }

    /// By the names that were looked for in the same directories.
    pub(super) fn of_names(names: &[String], summary: &TraceSummary) -> Self {
        let known = names.iter().find_map(|name| Self::of_name(name));
        let is_program = |name: &String| {
            summary.programs.iter().filter_map(|program| program.program.as_deref()).any(|program| {
                program.strip_suffix(name.as_str()).is_some_and(|before| before.ends_with('/'))
            })
        };
        match known {
            Some(known) => known,
            None if names.iter().any(is_program) => Self::Programs,
            None => Self::Anything,
        }
    }

    /// By what is known of a directory in which nothing was found.
    pub(super) fn of_directory(directory: &VainDirectory, summary: &TraceSummary) -> Self {
        let of_path = summary.search_paths.iter().find(|path| {
            path.directories.iter().any(|searched| searched.path == directory.path && searched.found == 0)
        });
        let names: Vec<String> = directory.looked_for.iter().cloned().collect();
        let known = match of_path {
            Some(path) => Self::of_names(&path.examples, summary),
            None => Self::of_names(&names, summary),
        };
        // Python lists a directory once, and then asks only whether it has changed.
        let is_asked_itself = directory.exists == Some(true) && directory.looked_for.is_none();
        let is_python = || summary.programs.iter().any(is_python);
        match known {
            Self::Anything if is_asked_itself && is_python() => Self::PythonModules,
            known => known,
        }
    }

    /// The variable that has the list, if there is one.
    pub const fn variable(self) -> Option<&'static str> {
        match self {
            Self::PythonModules => Some("PYTHONPATH"),
            Self::Libraries => Some("LD_LIBRARY_PATH"),
            Self::Programs => Some("PATH"),
            Self::PerlModules => Some("PERL5LIB"),
            Self::Headers => Some("CPATH"),
            // What a language needs lies where a name leads, along no list.
            Self::Locales | Self::Anything => None,
        }
    }
}

/// Whether the program that was traced had the variable with a list of directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetVariables {
    /// Nobody knows: its environment was not looked at.
    Unknown,
    /// It had this one.
    This,
    /// It had others only.
    Others,
}

impl SetVariables {
    /// Of the variables with lists that it had, by name.
    pub(super) fn of(searched: Searched, lists: &[String]) -> Self {
        match searched.variable() {
            Some(variable) if lists.iter().any(|list| list == variable) => Self::This,
            _ if lists.is_empty() => Self::Unknown,
            _ => Self::Others,
        }
    }
}

fn is_python(program: &TraceProgram) -> bool {
    let name = program.program.as_deref().and_then(|program| program.rsplit('/').next());
    name.is_some_and(|name| name.starts_with("python"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_was_looked_for() {
        for (name, searched) in [
            ("numpy.py", Some(Searched::PythonModules)),
            ("_json.cpython-311-x86_64-linux-gnu.so", Some(Searched::PythonModules)),
            ("libm.so.6", Some(Searched::Libraries)),
            ("plugin.so", Some(Searched::Libraries)),
            ("strict.pm", Some(Searched::PerlModules)),
            ("stdio.h", Some(Searched::Headers)),
            ("LC_TIME", Some(Searched::Locales)),
            ("bash", None),
            ("x.sock", None),
        ] {
            assert_eq!(Searched::of_name(name), searched, "{name}");
        }
    }

    #[test]
    fn a_name_that_became_a_program_was_looked_for_as_one() {
        let program = TraceProgram { program: Some("/usr/bin/bash".to_owned()), ..TraceProgram::default() };
        let summary = TraceSummary { programs: vec![program], ..TraceSummary::default() };
        let of = |name: &str| Searched::of_names(&[name.to_owned()], &summary);
        assert_eq!(of("bash"), Searched::Programs);
        assert_eq!(of("ash"), Searched::Anything);
    }

    #[test]
    fn python_only_asks_whether_a_directory_has_changed() {
        let directory = VainDirectory { exists: Some(true), ..VainDirectory::default() };
        let of = |program: &str| {
            let program = TraceProgram { program: Some(program.to_owned()), ..TraceProgram::default() };
            let summary = TraceSummary { programs: vec![program], ..TraceSummary::default() };
            Searched::of_directory(&directory, &summary)
        };
        assert_eq!(of("/usr/bin/python3.11"), Searched::PythonModules);
        assert_eq!(of("/usr/bin/git"), Searched::Anything);
    }
}
