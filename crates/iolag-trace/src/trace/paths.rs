//! The paths of a trace, each once. They are bytes: whatever stands between slashes is a name.

use std::sync::Arc;

use super::map::Map;

/// No path is longer; one that would be (a program that goes down without an end) is kept as it was asked for.
pub(crate) const PATH_BYTES_MAX: usize = 1 << 16;

/// A path, by its place in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(pub u32);

/// The table.
#[derive(Debug, Clone, Default)]
pub struct Paths {
    known: Map<Arc<[u8]>, PathId>,
    paths: Vec<Arc<[u8]>>,
    joined: Vec<u8>,
}

impl Paths {
    /// The number of a path.
    pub fn number(&mut self, path: &[u8]) -> PathId {
        if let Some(known) = self.known.get(path) {
            return *known;
        }
        // A path takes more than a byte of text: there are not 2^32 of them.
        let number = PathId(self.paths.len() as u32);
        let path: Arc<[u8]> = path.into();
        self.paths.push(Arc::clone(&path));
        self.known.insert(path, number);
        number
    }

    /// The number of what `path` means in `directory`. Only what certainly means nothing is left out: `..` may lead anywhere behind
    /// a symbolic link.
    pub fn number_in(&mut self, directory: Option<PathId>, path: &[u8]) -> PathId {
        let mut path = path;
        if path.starts_with(b"/") {
            return self.number(path);
        }
        while let Some(rest) = path.strip_prefix(b"./") {
            path = rest;
        }
        let Some(directory) = directory else { return self.number(path) };
        let mut joined = std::mem::take(&mut self.joined);
        joined.clear();
        joined.extend_from_slice(self.path(directory));
        if !path.is_empty() && path != b"." {
            if !joined.ends_with(b"/") {
                joined.push(b'/');
            }
            joined.extend_from_slice(path);
        }
        let number = self.number(if joined.len() <= PATH_BYTES_MAX { &joined } else { path });
        self.joined = joined;
        number
    }

    /// The path of a number; empty if there is none.
    pub fn path(&self, number: PathId) -> &[u8] {
        self.at(number.0 as usize)
    }

    /// The path at a place of the table; empty if there is none.
    pub(crate) fn at(&self, place: usize) -> &[u8] {
        self.paths.get(place).map_or(&[], |path| path)
    }

    /// All paths, in the order of their numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.paths.iter().map(AsRef::as_ref)
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }
}

impl PartialEq for Paths {
    fn eq(&self, other: &Self) -> bool {
        self.paths == other.paths
    }
}

impl Eq for Paths {}

/// A path as text: a byte that is not UTF-8, a control character and a backslash are written as strace writes them.
pub fn path_text(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len());
    for piece in path.utf8_chunks() {
        for letter in piece.valid().chars() {
            match letter {
                '\\' => text.push_str("\\\\"),
                '\n' => text.push_str("\\n"),
                '\t' => text.push_str("\\t"),
                '\r' => text.push_str("\\r"),
                other if u32::from(other) < 0x20 || other == '\u{7f}' => octal(other as u8, &mut text),
                other => text.push(other),
            }
        }
        piece.invalid().iter().for_each(|byte| octal(*byte, &mut text));
    }
    text
}

fn octal(byte: u8, text: &mut String) {
    text.push_str(&format!("\\{byte:03o}"));
}

/// A path without `.`, `..` and needless slashes: what it means where no symbolic link is in it.
pub fn lexical(path: &[u8]) -> Vec<u8> {
    let is_absolute = path.starts_with(b"/");
    let mut names: Vec<&[u8]> = Vec::new();
    for name in path.split(|byte| *byte == b'/') {
        match name {
            b"" | b"." => {}
            b".." => match names.last() {
                Some(last) if *last != b".." => {
                    names.pop();
                }
                // The root is its own parent.
                _ if is_absolute => {}
                _ => names.push(name),
            },
            name => names.push(name),
        }
    }
    let root: &[u8] = if is_absolute { b"/" } else { b"" };
    [root, &names.join(&b'/')].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_means_what_it_means_in_its_directory() {
        let mut paths = Paths::default();
        let home = paths.number(b"/home/me");
        let root = paths.number(b"/");
        let mut meant = |directory, path: &[u8]| {
            let number = paths.number_in(directory, path);
            String::from_utf8(paths.path(number).to_vec()).unwrap()
        };
        assert_eq!(meant(Some(home), b"a/b"), "/home/me/a/b");
        assert_eq!(meant(Some(home), b"././a"), "/home/me/a");
        assert_eq!(meant(Some(home), b"../a"), "/home/me/../a");
        assert_eq!(meant(Some(home), b"."), "/home/me");
        assert_eq!(meant(Some(home), b""), "/home/me");
        assert_eq!(meant(Some(home), b"/etc"), "/etc");
        assert_eq!(meant(Some(root), b"etc"), "/etc");
        assert_eq!(meant(None, b"./a"), "a");
        assert_eq!(paths.number(b"/home/me"), home);
        assert_eq!(paths.len(), 7);
    }

    #[test]
    fn a_lexical_path_has_no_detours() {
        let pairs = [
            ("/a/../b/./c//d/", "/b/c/d"),
            ("/../..", "/"),
            ("/", "/"),
            ("../a/..", ".."),
            ("a/b/../../..", ".."),
            ("", ""),
        ];
        for (path, plain) in pairs {
            assert_eq!(lexical(path.as_bytes()), plain.as_bytes(), "{path}");
        }
    }
}
