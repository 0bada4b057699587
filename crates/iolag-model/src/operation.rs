//! What is asked of a target.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// On which level an operation is meant; operations of different levels are never summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// On a whole object: the bounds of md-workbench (read = open + read + close, create = open + write + close).
    Object,
    /// A single system call, or a store's single request.
    Call,
    /// One block, or the end, of a stream; a directory or a file of a tree.
    Stream,
    /// What a user does at the prompt.
    Task,
    /// What iolag itself did: stages, waiting for a full ring.
    Harness,
}

macro_rules! operations {
    ($($(#[doc = $doc:literal])* $variant:ident = $code:literal, $name:literal, $level:ident;)*) => {
        /// What is asked. The number is stored, the name is shown; neither is ever reused.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "string"))]
        #[repr(u8)]
        pub enum Operation { $($(#[doc = $doc])* $variant = $code,)* }

        impl Operation {
            /// Every operation, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name in tables, files and options.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Whether it is a whole object, a call, a stream block, a task, or iolag's own.
            pub const fn level(self) -> Level {
                match self { $(Self::$variant => Level::$level,)* }
            }

            /// The operation with this stored number.
            pub const fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

operations! {
    /// Make an object and write its bytes (open with create, write, close).
    Create = 1, "create", Object;
    /// Read a whole object (open, read, close).
    Read = 2, "read", Object;
    /// Ask for an object's attributes.
    Stat = 3, "stat", Object;
    /// Remove an object.
    Delete = 4, "delete", Object;
    /// Write over an existing object (open, write, close).
    Write = 5, "write", Object;
    /// Give an object another name.
    Rename = 6, "rename", Object;
    /// List the names of a dataset.
    List = 7, "list", Object;
    /// Make an object durable (open, write, fsync, close).
    WriteDurably = 8, "write+fsync", Object;
    /// Make a directory or dataset.
    MakeDirectory = 9, "mkdir", Object;
    /// Remove a directory or dataset.
    RemoveDirectory = 10, "rmdir", Object;
    /// List the names of a dataset and ask for the attributes of its objects, as `ls -l` does.
    ListWithAttributes = 11, "list+stat", Object;

    /// statx(2) by name.
    CallStat = 32, "call.stat", Call;
    /// openat(2) for reading.
    CallOpen = 33, "call.open", Call;
    /// read(2), as often as needed for the whole object.
    CallRead = 34, "call.read", Call;
    /// close(2) of what was read.
    CallClose = 35, "call.close", Call;
    /// unlinkat(2).
    CallUnlink = 36, "call.unlink", Call;
    /// openat(2) with O_CREAT.
    CallCreate = 37, "call.create", Call;
    /// write(2), as often as needed for the whole object.
    CallWrite = 38, "call.write", Call;
    /// close(2) of what was written: network file systems flush here.
    CallCloseWritten = 39, "call.close-written", Call;
    /// fsync(2).
    CallFsync = 40, "call.fsync", Call;
    /// renameat(2).
    CallRename = 41, "call.rename", Call;
    /// openat(2), getdents64(2) to the end, close(2).
    CallReaddir = 42, "call.readdir", Call;
    /// mkdirat(2).
    CallMkdir = 43, "call.mkdir", Call;
    /// unlinkat(2) with AT_REMOVEDIR.
    CallRmdir = 44, "call.rmdir", Call;
    /// A server's name looked up (getaddrinfo(3)).
    CallResolve = 45, "call.resolve", Call;
    /// connect(2) until the server has accepted.
    CallConnect = 46, "call.connect", Call;
    /// The TLS handshake.
    CallTls = 47, "call.tls", Call;
    /// From a request's last byte to the first of the answer.
    CallFirstByte = 48, "call.first-byte", Call;
    /// faccessat(2).
    CallAccess = 49, "call.access", Call;
    /// readlinkat(2).
    CallReadlink = 50, "call.readlink", Call;
    /// fstat(2) of what is open.
    CallFstat = 51, "call.fstat", Call;
    /// chdir(2), fchdir(2).
    CallChdir = 52, "call.chdir", Call;
    /// getcwd(2).
    CallGetcwd = 53, "call.getcwd", Call;
    /// lseek(2).
    CallSeek = 54, "call.seek", Call;
    /// statfs(2), fstatfs(2).
    CallStatfs = 55, "call.statfs", Call;
    /// getdents64(2), once.
    CallGetdents = 56, "call.getdents", Call;
    /// mmap(2) of a file, without touching its pages.
    CallMmap = 57, "call.mmap", Call;
    /// fcntl(2), dup(2), and ioctl(2) to ask whether a file is a terminal.
    CallFcntl = 58, "call.fcntl", Call;
    /// ftruncate(2).
    CallTruncate = 59, "call.truncate", Call;
    /// linkat(2).
    CallLink = 60, "call.link", Call;
    /// symlinkat(2).
    CallSymlink = 61, "call.symlink", Call;
    /// fchmodat(2), fchownat(2), utimensat(2), by name or of what is open.
    CallSetAttributes = 62, "call.setattr", Call;
    /// What a server says that it worked, while its first byte was waited for.
    CallServer = 63, "call.server", Call;

    /// One block of a stream written.
    StreamWrite = 64, "stream.write", Stream;
    /// The stream made durable.
    StreamFsync = 65, "stream.fsync", Stream;
    /// One block of a stream read.
    StreamRead = 66, "stream.read", Stream;
    /// The file of a stream made: openat(2) with O_CREAT and O_TRUNC.
    StreamCreate = 67, "stream.create", Stream;
    /// The file of a stream opened for reading.
    StreamOpen = 68, "stream.open", Stream;
    /// The file of a stream opened to be written over.
    StreamReopen = 69, "stream.reopen", Stream;
    /// Room for all of a stream taken before it is written (fallocate(2)).
    StreamAllocate = 70, "stream.allocate", Stream;
    /// close(2) of a stream that was read.
    StreamClose = 71, "stream.close", Stream;
    /// close(2) of a stream that was written: network file systems flush here.
    StreamCloseWritten = 72, "stream.close-written", Stream;
    /// One block of a stream written over.
    StreamRewrite = 73, "stream.rewrite", Stream;
    /// One block of a stream read, in random order.
    StreamRandomRead = 74, "stream.random-read", Stream;
    /// One block of a stream written over, in random order.
    StreamRandomWrite = 75, "stream.random-write", Stream;
    /// A directory of a tree read: openat2(2), getdents64(2) to the end, close(2).
    TreeList = 76, "tree.list", Stream;
    /// The attributes of a name in a tree: statx(2), which follows no link.
    TreeStat = 77, "tree.stat", Stream;
    /// A file of a tree read to its end, and summed: openat2(2), statx(2), read(2) as often as needed, close(2).
    TreeRead = 78, "tree.read", Stream;
    /// One block of a stream copied to another file: read(2) and write(2), or copy_file_range(2).
    StreamCopy = 79, "stream.copy", Stream;
    /// The whole file of a stream copied to another one by cp(1), from starting the program to its end.
    StreamCp = 80, "stream.cp", Stream;
    /// The copy of a stream read, and compared with what was copied.
    StreamCompare = 81, "stream.compare", Stream;

    /// `ls -l` of a small directory.
    TaskList = 96, "ls -l", Task;
    /// `ls -n` of the same directory: no names looked up.
    TaskListNumeric = 97, "ls -n", Task;
    /// Create 500 small files in an empty directory.
    TaskCreate = 98, "create 500", Task;
    /// Compile and link a small program.
    TaskCompile = 99, "compile", Task;
    /// A whole probe of `iolag ping`, all that it consists of together.
    Probe = 100, "probe", Task;

    /// One client's stage from its start to its last operation; `bytes` counts the operations.
    Stage = 224, "stage", Harness;
    /// A client waited because its ring was full.
    RingWait = 225, "ring-wait", Harness;
    /// The first contact with a target: resolve it and find its mount.
    Reach = 226, "reach", Harness;
    /// A session was opened.
    OpenSession = 227, "open-session", Harness;
    /// What the processors did for a stage until a client had ended it: the duration is what they took together, for all clients of its
    /// process and in the kernel on their behalf.
    ProcessorTime = 228, "processor-time", Harness;
    /// The caches were made cold, those of servers too if there is a command for that.
    CachesDrop = 229, "caches.drop", Harness;
    /// The caches were made warm: everything was read.
    CachesWarm = 230, "caches.warm", Harness;
    /// How much of the files is in memory: the bytes are that.
    CachesResident = 231, "caches.resident", Harness;
    /// How large the files are that were looked at: the bytes are that.
    CachesHeld = 232, "caches.held", Harness;
    /// How much of a copy lies in blocks that another file has, too: the bytes are that.
    CopyShared = 233, "copy.shared", Harness;
    /// What the tasks of a replayed program have to do with each other: one begins another, waits for it, or executes a program.
    Edge = 234, "edge", Harness;
    /// What the job of a copy computes once it is set up: a command, from being started to its end.
    Payload = 235, "payload", Harness;
    /// What the processors did for it: the duration is what they took for the command and all that it has waited for.
    PayloadProcessorTime = 236, "payload.processor-time", Harness;
}

/// A name that is no operation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown operation {0:?}")]
pub struct UnknownOperation(String);

impl Operation {
    /// Whether it is about what caches hold, which is no work of the target's.
    pub const fn is_of_caches(self) -> bool {
        matches!(self, Self::CachesDrop | Self::CachesWarm | Self::CachesResident | Self::CachesHeld)
    }

    /// Whether it is only ever a part of a request to a server, with a sample of its own: a mark.
    pub const fn is_mark(self) -> bool {
        matches!(
            self,
            Self::CallResolve | Self::CallConnect | Self::CallTls | Self::CallFirstByte | Self::CallServer
        )
    }

    /// Whether it is what a client asks for: neither iolag's own nor a part of something.
    pub const fn is_asked(self) -> bool {
        !matches!(self.level(), Level::Harness) && !self.is_mark()
    }

    /// Whether it is about a tree that is there already.
    pub const fn is_of_trees(self) -> bool {
        matches!(self, Self::TreeList | Self::TreeStat | Self::TreeRead)
    }

    /// Whether it moves a part of a stream, or all of it.
    pub const fn moves_blocks(self) -> bool {
        self.block_direction().is_some() || matches!(self, Self::StreamCopy | Self::StreamCp)
    }

    /// Which way a block of a stream goes; nothing of what is none, and of one that is copied.
    pub const fn block_direction(self) -> Option<BlockDirection> {
        match self {
            Self::StreamWrite | Self::StreamRewrite | Self::StreamRandomWrite => {
                Some(BlockDirection::Written)
            }
            Self::StreamRead | Self::StreamRandomRead => Some(BlockDirection::Read),
            _ => None,
        }
    }
}

/// Which way a block of a stream goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockDirection {
    /// To the storage.
    Written,
    /// From it.
    Read,
}

impl FromStr for Operation {
    type Err = UnknownOperation;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .iter()
            .copied()
            .find(|operation| operation.name() == name)
            .ok_or_else(|| UnknownOperation(name.to_owned()))
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl Serialize for Operation {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Operation {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        name.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_and_numbers_are_unique_and_lead_back() {
        let mut names = HashSet::new();
        for operation in Operation::ALL {
            assert!(names.insert(operation.name()), "{operation} appears twice");
            assert_eq!(Operation::from_code(*operation as u8), Some(*operation));
            assert_eq!(operation.name().parse(), Ok(*operation));
        }
        assert_eq!(Operation::from_code(0), None);
    }
}
