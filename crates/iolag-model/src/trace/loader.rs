//! Where the loader of programs looks for libraries.
//!
//! It is given directories (`LD_LIBRARY_PATH`), and looks below each for libraries that are made for just this processor: ten to twenty directories
//! for each that anybody named.

/// Names of directories that glibc tries: hardware capabilities since 2.33, and those of before, in any order below each other.
const NAMES: [&[u8]; 23] = [
    b"glibc-hwcaps",
    b"x86-64-v2",
    b"x86-64-v3",
    b"x86-64-v4",
    b"power8",
    b"power9",
    b"power10",
    b"z13",
    b"z14",
    b"z15",
    b"z16",
    b"tls",
    b"haswell",
    b"xeon_phi",
    b"avx512_1",
    b"x86_64",
    b"i686",
    b"i586",
    b"i486",
    b"i386",
    b"sse2",
    b"aarch64",
    b"atomics",
];

/// Of a directory that the loader looks for below another, the other; nothing of any other directory. It goes by names alone: whether
/// the other was asked for libraries is for the caller to know.
pub fn loader_asks_below(directory: &[u8]) -> Option<&[u8]> {
    let mut at = directory;
    while let Some(slash) = at.iter().rposition(|byte| *byte == b'/')
        && NAMES.contains(&&at[slash + 1..])
    {
        at = &at[..slash];
    }
    (at.len() < directory.len()).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_loader_looks_for_belongs_to_what_was_named() {
        let below = |path: &'static str| {
            loader_asks_below(path.as_bytes()).map(|it| std::str::from_utf8(it).unwrap())
        };
        assert_eq!(below("/opt/lib/glibc-hwcaps/x86-64-v3"), Some("/opt/lib"));
        assert_eq!(below("/opt/lib/tls/haswell/avx512_1/x86_64"), Some("/opt/lib"));
        assert_eq!(below("/opt/lib/tls"), Some("/opt/lib"));
        assert_eq!(below("/opt/lib"), None);
        assert_eq!(below("tls"), None);
        assert_eq!(below("/opt/tls/lib"), None);
    }
}
