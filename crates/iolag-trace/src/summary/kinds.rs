//! What a call is to the time that passes: whose time it takes.

use iolag_model::{TraceActivityKind, TraceMount};

use super::bins::Rank;
use super::places::Ground;
use crate::trace::{PathId, Paths, lexical};

/// A kind of activity, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind(pub usize);

impl Kind {
    /// The stops of tracing.
    pub(super) const TRACING: Self = Self(0);
    pub(super) const NAME_SERVICE: Self = Self(1);
    pub(super) const PROCESSOR: Self = Self(2);
    pub(super) const TIME: Self = Self(3);
    pub(super) const NETWORK: Self = Self(4);
    pub(super) const OTHERS: Self = Self(5);
    pub(super) const PROCESSES: Self = Self(6);
    pub(super) const UNKNOWN: Self = Self(7);
    /// After the last call of a thread: work, or waiting for a lock.
    pub(super) const TO_ITS_END: Self = Self(8);
    /// Two for each mount follow.
    const FIXED: usize = 9;

    pub(super) const fn look_ups(mount: usize) -> Self {
        Self(Self::FIXED + 2 * mount)
    }

    pub(super) const fn storage(mount: usize) -> Self {
        Self(Self::FIXED + 2 * mount + 1)
    }

    pub(super) const fn rank(self) -> Rank {
        match self {
            Self::TIME | Self::NETWORK | Self::OTHERS | Self::UNKNOWN => Rank::Waits,
            Self::PROCESSES => Rank::WaitsForTasks,
            _ => Rank::Does,
        }
    }

    /// Nothing for what is no activity of the command.
    pub(super) fn told(self, mounts: &Mounts) -> Option<TraceActivityKind> {
        let of_mount = || mounts.points.get((self.0 - Self::FIXED) / 2).cloned().unwrap_or_default();
        Some(match self {
            Self::TRACING | Self::TO_ITS_END => return None,
            Self::NAME_SERVICE => TraceActivityKind::NameService,
            Self::PROCESSOR => TraceActivityKind::Processor,
            Self::TIME => TraceActivityKind::Time,
            Self::NETWORK => TraceActivityKind::Network,
            Self::OTHERS => TraceActivityKind::Others,
            Self::PROCESSES => TraceActivityKind::Processes,
            Self::UNKNOWN => TraceActivityKind::Unknown,
            Self(number) if (number - Self::FIXED).is_multiple_of(2) => {
                TraceActivityKind::LookUps(of_mount())
            }
            _ => TraceActivityKind::Storage(of_mount()),
        })
    }
}

/// What a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In what is mounted, by the number of the mount.
    Mounted(usize),
    /// A file of names of users, groups or hosts.
    Names,
    /// /dev, /proc and /sys.
    System,
}

/// Files that say what users, groups and hosts are called, or where to ask; what sssd and nscd leave there for everybody.
const NAMES: [&[u8]; 9] = [
    b"/etc/passwd",
    b"/etc/group",
    b"/etc/nsswitch.conf",
    b"/etc/hosts",
    b"/etc/host.conf",
    b"/etc/resolv.conf",
    b"/var/lib/sss/",
    b"/var/cache/nscd/",
    b"/var/db/nscd/",
];

/// Where what is mounted.
#[derive(Debug, Default)]
pub(super) struct Mounts {
    points: Vec<String>,
    /// By the numbers of paths, as far as they were asked for.
    known: Vec<Option<Place>>,
}

impl Mounts {
    pub(super) fn new(mounts: &[TraceMount]) -> Self {
        // Something is always mounted at the root.
        let points = std::iter::once("/").chain(mounts.iter().map(|mount| mount.point.as_str()));
        let mut points: Vec<String> = points.map(str::to_owned).collect();
        // The deepest first: it is what a path lies on.
        points.sort_by_key(|point| std::cmp::Reverse(point.len()));
        points.dedup();
        Self { points, known: Vec::new() }
    }

    /// What a path is, by its text alone: where a symbolic link leads is not known.
    pub(super) fn of(&mut self, path: PathId, paths: &Paths) -> Place {
        let at = path.0 as usize;
        if self.known.len() <= at {
            self.known.resize(at + 1, None);
        }
        if let Some(known) = self.known[at] {
            return known;
        }
        let place = self.look(&lexical(paths.path(path)));
        self.known[at] = Some(place);
        place
    }

    fn look(&self, path: &[u8]) -> Place {
        let is_names = |names: &&[u8]| path == *names || names.ends_with(b"/") && path.starts_with(names);
        if NAMES.iter().any(is_names) {
            return Place::Names;
        }
        let is_below = |point: &String| {
            let point = point.trim_end_matches('/').as_bytes();
            path.strip_prefix(point).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        // Those directories themselves, and what is in them.
        if Ground::of(path) == Ground::System {
            return Place::System;
        }
        Place::Mounted(self.points.iter().position(is_below).unwrap_or(self.points.len() - 1))
    }
}

/// What is asked of sockets.
pub(super) fn is_network(name: &[u8]) -> bool {
    const CALLS: [&[u8]; 11] = [
        b"socket",
        b"connect",
        b"accept",
        b"accept4",
        b"bind",
        b"listen",
        b"shutdown",
        b"getsockopt",
        b"setsockopt",
        b"getsockname",
        b"getpeername",
    ];
    CALLS.contains(&name)
        || name.starts_with(b"send") && !name.starts_with(b"sendfile")
        || name.starts_with(b"recv")
}

/// Waits for descriptors that are not told.
pub(super) fn is_poll(name: &[u8]) -> bool {
    const CALLS: [&[u8]; 9] = [
        b"poll",
        b"ppoll",
        b"select",
        b"_newselect",
        b"pselect6",
        b"epoll_wait",
        b"epoll_pwait",
        b"epoll_pwait2",
        b"ppoll_time64",
    ];
    CALLS.contains(&name)
}

/// Waits for time to pass, or for a signal.
pub(super) fn is_sleep(name: &[u8]) -> bool {
    const CALLS: [&[u8]; 7] = [
        b"nanosleep",
        b"clock_nanosleep",
        b"clock_nanosleep_time64",
        b"pause",
        b"rt_sigsuspend",
        b"rt_sigtimedwait",
        b"restart_syscall",
    ];
    CALLS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_lies_on_the_deepest_mount_above_it() {
        let mount = |point: &str| TraceMount { point: point.into(), ..TraceMount::default() };
        let mut mounts = Mounts::new(&["/", "/home", "/home/me/remote", "/home"].map(mount));
        let mut paths = Paths::default();
        let mut on = |path: &str| {
            let place = mounts.of(paths.number(path.as_bytes()), &paths);
            match place {
                Place::Mounted(number) => mounts.points[number].clone(),
                other => format!("{other:?}"),
            }
        };
        for (path, expected) in [
            ("/home/me/remote/a", "/home/me/remote"),
            ("/home/me/remote", "/home/me/remote"),
            ("/home/me/remote2", "/home"),
            ("/home/me/../../homes", "/"),
            ("/dev/shm/a", "/"),
            ("/dev/null", "System"),
            ("/proc", "System"),
            ("/etc/passwd", "Names"),
            ("/var/lib/sss/mc/passwd", "Names"),
            ("/etc/passwd2", "/"),
            ("nobody/knows", "/"),
        ] {
            assert_eq!(on(path), expected, "{path}");
        }
    }
}
