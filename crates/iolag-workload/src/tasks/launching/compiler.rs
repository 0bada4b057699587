//! The compiler at hand, and the program that it gets to compile.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A compiler that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiler {
    /// Where it is.
    pub path: PathBuf,
    /// What it compiles.
    pub language: Language,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
}

/// What a compiler compiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// C99.
    C,
    /// Fortran 90 and later.
    Fortran,
}

/// Compilers in the order in which they are looked for.
const COMPILERS: [(&str, Language); 7] = [
    ("cc", Language::C),
    ("gcc", Language::C),
    ("clang", Language::C),
    ("gfortran", Language::Fortran),
    ("ifx", Language::Fortran),
    ("nvfortran", Language::Fortran),
    ("ftn", Language::Fortran),
];

/// Where they are looked for first: these directories are hardly ever on the storage under suspicion.
const STANDARD_DIRECTORIES: [&str; 3] = ["/usr/bin", "/usr/local/bin", "/bin"];

/// The search path that programs get.
const MINIMAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

impl Compiler {
    /// Its name, as a report shows it.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    pub(crate) fn has_pipe_option(&self) -> bool {
        self.language == Language::C || self.path.file_name().is_some_and(|name| name == "gfortran")
    }
}

impl Language {
    /// The program that is compiled: own text of about 90 lines, numerics as users of such systems write them.
    pub const fn source(self) -> &'static str {
        match self {
            Self::C => include_str!("heat.c"),
            Self::Fortran => include_str!("heat.f90"),
        }
    }

    /// The name of its source file.
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::C => "program.c",
            Self::Fortran => "program.f90",
        }
    }
}

/// The first compiler that is there: in the standard directories, then in those of `environment`'s PATH. `None` if there is
/// none; then nothing is compiled, and whoever reports says so.
///
/// A compiler of the standard directories runs in a minimal environment. One that was only found by PATH gets the user's
/// environment, since the wrappers of module systems need it, with messages in English.
pub fn find_compiler(environment: &[(OsString, OsString)]) -> Option<Compiler> {
    let standard = STANDARD_DIRECTORIES.iter().map(PathBuf::from).collect::<Vec<_>>();
    find_in(&standard, minimal_environment()).or_else(|| {
        let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value)?;
        let directories = std::env::split_paths(path).filter(|directory| directory.is_absolute());
        let mut inherited: Vec<_> =
            environment.iter().filter(|(name, _)| name != "LC_ALL").cloned().collect();
        inherited.push(("LC_ALL".into(), "C".into()));
        find_in(&directories.collect::<Vec<_>>(), inherited)
    })
}

/// The environment of programs that need nothing of the user's.
pub(crate) fn minimal_environment() -> Vec<(OsString, OsString)> {
    vec![("LC_ALL".into(), "C".into()), ("PATH".into(), MINIMAL_PATH.into())]
}

fn find_in(directories: &[PathBuf], environment: Vec<(OsString, OsString)>) -> Option<Compiler> {
    let (path, language) = COMPILERS.iter().find_map(|(name, language)| {
        let path = directories.iter().map(|directory| directory.join(name)).find(|path| is_program(path))?;
        Some((path, *language))
    })?;
    Some(Compiler { path, language, environment })
}

pub(crate) fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_name_counts_and_then_the_first_directory() {
        let place = tempfile::tempdir().unwrap();
        let (one, two) = (place.path().join("one"), place.path().join("two"));
        for (directory, name, mode) in
            [(&one, "gfortran", 0o755), (&one, "cc", 0o644), (&two, "clang", 0o755), (&two, "ftn", 0o755)]
        {
            std::fs::create_dir_all(directory).unwrap();
            std::fs::write(directory.join(name), "").unwrap();
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(directory.join(name), mode).unwrap();
        }
        let found = find_in(&[one.clone(), two.clone()], vec![]).unwrap();
        assert_eq!((found.path, found.language), (two.join("clang"), Language::C));
        let found = find_in(std::slice::from_ref(&one), vec![]).unwrap();
        assert_eq!(
            (found.name(), found.language),
            (one.join("gfortran").display().to_string(), Language::Fortran)
        );
        assert_eq!(find_in(&[place.path().to_owned()], vec![]), None);
    }

    #[test]
    fn both_programs_have_about_ninety_lines() {
        for language in [Language::C, Language::Fortran] {
            let lines = language.source().lines().count();
            assert!((80..=100).contains(&lines), "{language:?}: {lines}");
        }
    }
}
