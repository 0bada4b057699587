//! Which paths are asked again, and where.

use iolag_model::ReplayMap;

use crate::summary::Ground;
use crate::trace::{lexical, path_text};

/// What of a program's paths is asked again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// Directories of the program, without `.`, `..` and needless slashes, in the order in which they were named.
    from: Vec<Vec<u8>>,
    /// Calls outside of these are not counted; nothing: all are.
    only: Vec<Vec<u8>>,
}

/// What cannot be asked again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// A relative path.
    #[error("{option} {path}: a directory of the program has to begin with a slash, as in /afs/x")]
    Relative {
        /// The option.
        option: &'static str,
        /// The path.
        path: String,
    },
    /// Two maps of one directory.
    #[error("--map maps {path} twice: several directories in its place are several commands, or targets")]
    Twice {
        /// The path.
        path: String,
    },
    /// What the kernel tells.
    #[error("--map {path}: what is in /proc, /sys and /dev is no storage, and is never asked again")]
    System {
        /// The path.
        path: String,
    },
}

/// Where a path is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mapped {
    /// There.
    To { map: u16, path: Vec<u8> },
    /// Nowhere, which counts.
    No,
    /// Nowhere, which does not.
    Ignored,
}

impl Scope {
    /// These maps, of what lies in these directories.
    ///
    /// # Errors
    /// If that cannot be.
    pub fn new(maps: &[ReplayMap], only: &[String]) -> Result<Self, ScopeError> {
        let mut from: Vec<Vec<u8>> = Vec::with_capacity(maps.len());
        for map in maps {
            let path = absolute("--map", &map.from)?;
            if is_system(&path) {
                return Err(ScopeError::System { path: map.from.clone() });
            }
            if from.contains(&path) {
                return Err(ScopeError::Twice { path: map.from.clone() });
            }
            from.push(path);
        }
        let only = only.iter().map(|path| absolute("--only", path)).collect::<Result<_, _>>()?;
        Ok(Self { from, only })
    }

    /// As which map the files of a copy's own are asked for.
    pub fn own(&self) -> u16 {
        self.from.len() as u16
    }

    /// The directory of the program with this number.
    pub fn from(&self, map: u16) -> &[u8] {
        self.from.get(usize::from(map)).map_or(&[], Vec::as_slice)
    }

    /// The directories of the program that were named, each with the option that did.
    pub(super) fn named(&self) -> impl Iterator<Item = (&'static str, &[u8])> {
        let from = self.from.iter().map(|from| ("--map", from.as_slice()));
        from.chain(self.only.iter().map(|only| ("--only", only.as_slice())))
    }

    /// Where a path is asked for: by the longest directory that it lies in.
    pub(super) fn map(&self, path: &[u8]) -> Mapped {
        let plain = lexical(path);
        if is_system(&plain)
            || !(self.only.is_empty() || self.only.iter().any(|only| below(&plain, only).is_some()))
        {
            return Mapped::Ignored;
        }
        let longest = (0..).zip(&self.from).filter(|(_, from)| below(&plain, from).is_some());
        let Some((map, from)) = longest.max_by_key(|(_, from)| from.len()) else { return Mapped::No };
        // Asked as it was asked, unless its beginning goes up and down.
        let rest = match below(path, from) {
            Some(rest) if !goes_above(rest) => rest,
            _ => below(&plain, from).unwrap_or_default(),
        };
        let path = if rest.is_empty() { b".".to_vec() } else { rest.to_vec() };
        Mapped::To { map, path }
    }
}

fn absolute(option: &'static str, path: &str) -> Result<Vec<u8>, ScopeError> {
    match path.starts_with('/') {
        true => Ok(lexical(path.as_bytes())),
        false => Err(ScopeError::Relative { option, path: path_text(path.as_bytes()) }),
    }
}

/// What of a path lies below a directory.
pub(super) fn below<'a>(path: &'a [u8], directory: &[u8]) -> Option<&'a [u8]> {
    let rest = path.strip_prefix(directory)?;
    let is_whole = rest.is_empty() || rest.starts_with(b"/") || directory.ends_with(b"/");
    let begin = rest.iter().position(|byte| *byte != b'/').unwrap_or(rest.len());
    is_whole.then_some(&rest[begin..])
}

/// Whether it leads, by its text, out of where it begins.
fn goes_above(path: &[u8]) -> bool {
    let mut depth = 0_i64;
    path.split(|byte| *byte == b'/').any(|name| {
        depth += match name {
            b"" | b"." => 0,
            b".." => -1,
            _ => 1,
        };
        depth < 0
    })
}

/// Whether it lies in what the kernel tells.
pub(super) fn is_system(plain: &[u8]) -> bool {
    Ground::of(plain) == Ground::System
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(from: &str) -> ReplayMap {
        ReplayMap { from: from.into(), to: "/x".into() }
    }

    fn to(map: u16, path: &str) -> Mapped {
        Mapped::To { map, path: path.into() }
    }

    #[test]
    fn the_longest_directory_counts_and_names_are_whole() {
        let scope = Scope::new(&[map("/"), map("/usr/lib/"), map("/usr")], &[]).unwrap();
        for (path, expected) in [
            ("/usr/lib/python3/os.py", to(1, "python3/os.py")),
            ("/usr/library", to(2, "library")),
            ("/usr", to(2, ".")),
            ("/", to(0, ".")),
            ("//etc//x", to(0, "etc//x")),
            ("/usr/lib/../bin/x", to(2, "lib/../bin/x")),
            ("/usr/../../etc/x", to(0, "usr/../../etc/x")),
            ("/usr/lib/x/../../../../etc", to(0, "etc")),
            ("/proc/self/maps", Mapped::Ignored),
            ("/dev/null", Mapped::Ignored),
            ("/dev/shm/x", to(0, "dev/shm/x")),
        ] {
            let expected = match (path, expected) {
                // Up and down within the map as it was asked, above its root never.
                ("/usr/../../etc/x", _) => to(0, "etc/x"),
                (_, expected) => expected,
            };
            assert_eq!(scope.map(path.as_bytes()), expected, "{path}");
        }
    }

    #[test]
    fn what_is_outside_is_counted_unless_all_is_restricted() {
        let scope = Scope::new(&[map("/afs/x")], &[]).unwrap();
        assert_eq!(scope.map(b"/usr/lib"), Mapped::No);
        let scope = Scope::new(&[map("/afs/x")], &["/afs".into()]).unwrap();
        assert_eq!(scope.map(b"/usr/lib"), Mapped::Ignored);
        assert_eq!(scope.map(b"/afs/y"), Mapped::No);
        assert_eq!(scope.map(b"/afs/x/y"), to(0, "y"));
    }

    #[test]
    fn what_cannot_be_mapped_is_refused_in_a_sentence() {
        let refused = |maps: &[ReplayMap], only: &[String]| Scope::new(maps, only).unwrap_err().to_string();
        assert!(
            refused(&[map("afs")], &[]).starts_with("--map afs: a directory of the program has to begin")
        );
        assert!(refused(&[map("/a"), map("/a/")], &[]).starts_with("--map maps /a/ twice"));
        assert!(refused(&[map("/proc")], &[]).contains("no storage"));
        assert!(refused(&[], &["x".into()]).starts_with("--only x:"));
    }
}
