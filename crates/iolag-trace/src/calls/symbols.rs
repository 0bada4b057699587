//! The words in arguments, and the numbers that they stand for on x86-64: a trace holds those, whichever machine it is of.

use crate::text::arguments::number_and_rest;

/// Words that belong together. The same number means something else in another group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    /// `O_…`
    Open,
    /// `AT_…`
    At,
    /// `R_OK`…
    Access,
    /// `CLONE_…`
    Clone,
    /// `F_…`
    Control,
    /// `SEEK_…`
    Seek,
    /// `PROT_…`
    Protection,
    /// `CLOSE_RANGE_…`
    CloseRange,
    /// `S_I…`
    Mode,
    /// `RENAME_…`
    Rename,
}

/// Bits that the program uses.
pub(crate) mod bits {
    pub(crate) use crate::trace::clone_flags::{CLONE_FILES, CLONE_FS, CLONE_NEWNS};

    pub const O_ACCMODE: u32 = 3;
    pub const O_CREAT: u32 = 0o100;
    pub const O_TRUNC: u32 = 0o1000;
    pub const O_APPEND: u32 = 0o2000;
    pub const O_CLOEXEC: u32 = 0o2_000_000;
    pub const AT_EMPTY_PATH: u32 = 0x1000;
    pub const CLOSE_RANGE_UNSHARE: u32 = 2;
    pub const CLOSE_RANGE_CLOEXEC: u32 = 4;
    pub const F_DUPFD: u32 = 0;
    pub const F_SETFD: u32 = 2;
    pub const F_SETFL: u32 = 4;
    pub const F_DUPFD_CLOEXEC: u32 = 1030;
    pub const FD_CLOEXEC: u32 = 1;
}

const OPEN: &[(&str, u32)] = &[
    ("O_RDONLY", 0),
    ("O_WRONLY", 1),
    ("O_RDWR", 2),
    ("O_ACCMODE", bits::O_ACCMODE),
    ("O_CREAT", bits::O_CREAT),
    ("O_EXCL", 0o200),
    ("O_NOCTTY", 0o400),
    ("O_TRUNC", bits::O_TRUNC),
    ("O_APPEND", bits::O_APPEND),
    ("O_NONBLOCK", 0o4000),
    // O_SYNC and O_TMPFILE contain the bits of the words after them.
    ("O_SYNC", 0o4_010_000),
    ("O_DSYNC", 0o10000),
    ("O_DIRECT", 0o40000),
    ("O_LARGEFILE", 0o100_000),
    ("O_TMPFILE", 0o20_200_000),
    ("O_DIRECTORY", 0o200_000),
    ("O_NOFOLLOW", 0o400_000),
    ("O_NOATIME", 0o1_000_000),
    ("O_CLOEXEC", bits::O_CLOEXEC),
    ("O_PATH", 0o10_000_000),
    ("FASYNC", 0o20000),
];
const AT: &[(&str, u32)] = &[
    ("AT_SYMLINK_NOFOLLOW", 0x100),
    ("AT_REMOVEDIR", 0x200),
    ("AT_EACCESS", 0x200),
    ("AT_SYMLINK_FOLLOW", 0x400),
    ("AT_NO_AUTOMOUNT", 0x800),
    ("AT_EMPTY_PATH", bits::AT_EMPTY_PATH),
    ("AT_STATX_SYNC_AS_STAT", 0),
    ("AT_STATX_FORCE_SYNC", 0x2000),
    ("AT_STATX_DONT_SYNC", 0x4000),
    ("AT_RECURSIVE", 0x8000),
];
const ACCESS: &[(&str, u32)] = &[("F_OK", 0), ("X_OK", 1), ("W_OK", 2), ("R_OK", 4)];
const CLONE: &[(&str, u32)] = &[
    ("CLONE_VM", 0x100),
    ("CLONE_FS", bits::CLONE_FS),
    ("CLONE_FILES", bits::CLONE_FILES),
    ("CLONE_SIGHAND", 0x800),
    ("CLONE_PIDFD", 0x1000),
    ("CLONE_PTRACE", 0x2000),
    ("CLONE_VFORK", 0x4000),
    ("CLONE_PARENT", 0x8000),
    ("CLONE_THREAD", 0x10000),
    ("CLONE_NEWNS", bits::CLONE_NEWNS),
    ("CLONE_SYSVSEM", 0x40000),
    ("CLONE_SETTLS", 0x80000),
    ("CLONE_PARENT_SETTID", 0x10_0000),
    ("CLONE_CHILD_CLEARTID", 0x20_0000),
    ("CLONE_DETACHED", 0x40_0000),
    ("CLONE_UNTRACED", 0x80_0000),
    ("CLONE_CHILD_SETTID", 0x100_0000),
    ("CLONE_NEWCGROUP", 0x200_0000),
    ("CLONE_NEWUTS", 0x400_0000),
    ("CLONE_NEWIPC", 0x800_0000),
    ("CLONE_NEWUSER", 0x1000_0000),
    ("CLONE_NEWPID", 0x2000_0000),
    ("CLONE_NEWNET", 0x4000_0000),
    ("CLONE_IO", 0x8000_0000),
];
const CONTROL: &[(&str, u32)] = &[
    ("F_DUPFD", bits::F_DUPFD),
    ("F_GETFD", 1),
    ("F_SETFD", bits::F_SETFD),
    ("F_GETFL", 3),
    ("F_SETFL", bits::F_SETFL),
    ("F_GETLK", 5),
    ("F_SETLK", 6),
    ("F_SETLKW", 7),
    ("F_SETOWN", 8),
    ("F_GETOWN", 9),
    ("F_OFD_GETLK", 36),
    ("F_OFD_SETLK", 37),
    ("F_OFD_SETLKW", 38),
    ("F_SETLEASE", 1024),
    ("F_GETLEASE", 1025),
    ("F_NOTIFY", 1026),
    ("F_DUPFD_CLOEXEC", bits::F_DUPFD_CLOEXEC),
    ("F_SETPIPE_SZ", 1031),
    ("F_GETPIPE_SZ", 1032),
    ("F_ADD_SEALS", 1033),
    ("F_GET_SEALS", 1034),
];
const SEEK: &[(&str, u32)] =
    &[("SEEK_SET", 0), ("SEEK_CUR", 1), ("SEEK_END", 2), ("SEEK_DATA", 3), ("SEEK_HOLE", 4)];
const PROTECTION: &[(&str, u32)] = &[("PROT_NONE", 0), ("PROT_READ", 1), ("PROT_WRITE", 2), ("PROT_EXEC", 4)];
const CLOSE_RANGE: &[(&str, u32)] =
    &[("CLOSE_RANGE_UNSHARE", bits::CLOSE_RANGE_UNSHARE), ("CLOSE_RANGE_CLOEXEC", bits::CLOSE_RANGE_CLOEXEC)];
const MODE: &[(&str, u32)] = &[
    ("S_IFSOCK", 0o140_000),
    ("S_IFLNK", 0o120_000),
    ("S_IFREG", 0o100_000),
    ("S_IFBLK", 0o060_000),
    ("S_IFDIR", 0o040_000),
    ("S_IFCHR", 0o020_000),
    ("S_IFIFO", 0o010_000),
    ("S_ISUID", 0o4000),
    ("S_ISGID", 0o2000),
    ("S_ISVTX", 0o1000),
];
const RENAME: &[(&str, u32)] = &[("RENAME_NOREPLACE", 1), ("RENAME_EXCHANGE", 2), ("RENAME_WHITEOUT", 4)];

impl Group {
    const fn words(self) -> &'static [(&'static str, u32)] {
        match self {
            Self::Open => OPEN,
            Self::At => AT,
            Self::Access => ACCESS,
            Self::Clone => CLONE,
            Self::Control => CONTROL,
            Self::Seek => SEEK,
            Self::Protection => PROTECTION,
            Self::CloseRange => CLOSE_RANGE,
            Self::Mode => MODE,
            Self::Rename => RENAME,
        }
    }

    /// The number that `O_RDONLY|O_CLOEXEC`, `S_IFREG|0644` or `0x241 /* O_… */` stands for. Words that nobody knows count for nothing.
    pub(crate) fn value(self, text: &[u8]) -> u32 {
        let mut value = 0;
        for word in text.split(|byte| *byte == b'|') {
            value |= match number_and_rest(word) {
                // Larger ones are not kept: no call that matters has them.
                Some((number, _)) => number as u32,
                None => self.word(word),
            };
        }
        value
    }

    fn word(self, word: &[u8]) -> u32 {
        let known = self.words().iter().find(|(name, _)| name.as_bytes() == word);
        known.map_or(0, |(_, value)| *value)
    }

    /// Appends the words for a number, as strace writes them.
    pub(crate) fn write(self, value: u32, to: &mut Vec<u8>) {
        match self {
            Self::Control | Self::Seek => match self.words().iter().find(|(_, known)| *known == value) {
                Some((name, _)) => to.extend_from_slice(name.as_bytes()),
                None => to.extend_from_slice(format!("{value:#x}").as_bytes()),
            },
            Self::Mode => self.write_bits(value, 0o7777 & !0o7000, to),
            Self::Open => {
                // Reading is the absence of a bit.
                let way = ["O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE"][(value & 3) as usize];
                to.extend_from_slice(way.as_bytes());
                if value & !3 != 0 {
                    to.push(b'|');
                    self.write_bits(value & !3, 0, to);
                }
            }
            _ => self.write_bits(value, 0, to),
        }
    }

    /// Words, and what has none as a number: octal if it is within `octal`.
    fn write_bits(self, value: u32, octal: u32, to: &mut Vec<u8>) {
        let mut left = value;
        let mut separator: &[u8] = b"";
        let mut write = |words: &[u8]| {
            to.extend_from_slice(separator);
            to.extend_from_slice(words);
            separator = b"|";
        };
        let types = if self == Self::Mode { 0o170_000 } else { 0 };
        for (name, bits) in self.words() {
            let is_set = match bits & types {
                0 => *bits != 0 && left & bits == *bits,
                _ => value & types == *bits,
            };
            if is_set {
                write(name.as_bytes());
                left &= !bits;
            }
        }
        match (left, value) {
            (0, 0) if self == Self::Access => write(b"F_OK"),
            (0, 0) if self == Self::Protection => write(b"PROT_NONE"),
            (0, 0) if octal == 0 => write(b"0"),
            (0, _) if octal == 0 => {}
            _ if left & !octal == 0 => write(format!("0{left:03o}").as_bytes()),
            _ => write(format!("{left:#x}").as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Group; 10] = [
        Group::Open,
        Group::At,
        Group::Access,
        Group::Clone,
        Group::Control,
        Group::Seek,
        Group::Protection,
        Group::CloseRange,
        Group::Mode,
        Group::Rename,
    ];

    fn written(group: Group, value: u32) -> String {
        let mut to = Vec::new();
        group.write(value, &mut to);
        String::from_utf8(to).unwrap()
    }

    #[test]
    fn words_are_numbers() {
        assert_eq!(Group::Open.value(b"O_RDONLY|O_CLOEXEC"), bits::O_CLOEXEC);
        assert_eq!(Group::Open.value(b"O_WRONLY|O_CREAT|O_TRUNC"), 0o1101);
        assert_eq!(Group::Mode.value(b"S_IFDIR|S_ISVTX|0777"), 0o041_777);
        assert_eq!(Group::Clone.value(b"CLONE_VM|CLONE_FILES|SIGCHLD"), 0x500);
        assert_eq!(Group::Control.value(b"F_DUPFD_CLOEXEC"), 1030);
        assert_eq!(Group::Open.value(b"0x80000 /* O_??? */"), 0x80000);
        assert_eq!(Group::Access.value(b"R_OK|X_OK"), 5);
        assert_eq!(Group::Open.value(b""), 0);
    }

    #[test]
    fn numbers_are_words_as_strace_writes_them() {
        assert_eq!(written(Group::Open, bits::O_CLOEXEC), "O_RDONLY|O_CLOEXEC");
        assert_eq!(written(Group::Open, 0o1101), "O_WRONLY|O_CREAT|O_TRUNC");
        assert_eq!(written(Group::Mode, 0o100_644), "S_IFREG|0644");
        assert_eq!(written(Group::Mode, 0o041_777), "S_IFDIR|S_ISVTX|0777");
        assert_eq!(written(Group::Mode, 0o644), "0644");
        assert_eq!(written(Group::Access, 0), "F_OK");
        assert_eq!(written(Group::At, 0), "0");
        assert_eq!(written(Group::Seek, 2), "SEEK_END");
        assert_eq!(written(Group::Control, 77), "0x4d");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(value: u32, small in 0_u32..8192) {
            for group in ALL {
                for value in [value, small] {
                    prop_assert_eq!(group.value(written(group, value).as_bytes()), value, "{:?}", group);
                }
            }
        }
    }
}
