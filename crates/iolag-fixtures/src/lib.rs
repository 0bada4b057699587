//! Real faults for tests: file systems that hang, fail, are slow, full or read-only, on a machine where root is at hand.
//!
//! - [`FuseMount`]: a file system in a process of its own that passes everything on to a directory, until it is told
//!   to answer late, with an error, or not at all. Its callers then wait as those of a dead file server do.
//! - [`LoopMount`], [`TmpfsMount`]: small real file systems, for "full" and "read-only", too; [`BindMount`] shows one at a second place,
//!   where it can be unmounted in mid-run.
//! - [`SshfsMount`]: the sshfs that people use, on OpenSSH's server of files; [`GlusterMount`]: one brick of GlusterFS and its client.
//! - [`Throttle`]: a cap on what a process gets of a block device.
//! - [`PostgresServer`]: a real PostgreSQL, as an unprivileged user, on a socket and a port of the loopback; [`S3Server`]: versitygw;
//!   [`WebServer`]: nginx with WebDAV; [`MongoServer`]: FerretDB, which is not mongod; [`Proxy`]: between any of them and its clients, stalls, cuts
//!   and drips.
//! - [`made_up_series`]: series of a history, made by hand.
//! - [`forbid`]: a system call that the system refuses, as in a container.
//! - [`Alone`]: the coordinator of a client that meets nobody.
//! - [`skip`]: how a test says that it could not run here.
//!
//! Invariants: a fixture returns `None` after naming the calling test as skipped, where the machine lacks what it
//! needs; every wait is bounded; dropping a fixture frees all callers and leaves neither mount nor process, never fails, and says on
//! standard error what it could not take away.
//!
//! Limits: Linux and root. The tests' own thread must not touch a hung mount: ask in a child or a thread.

mod alone;
mod forbidding;
mod fuse_daemon;
mod fuse_filesystem;
mod fuse_gate;
mod fuse_mount;
mod fuse_rules;
pub mod made_up_series;
mod mounts;
mod network;
mod passthrough;
mod recorded;
mod servers;
mod skipping;
mod throttle;

pub use alone::Alone;
pub use forbidding::forbid;
pub use fuse_daemon::{DaemonError, USUAL_LIFE, serve};
pub use fuse_mount::FuseMount;
pub use fuse_rules::FuseCall;
pub use mounts::{BindMount, DiskFormat, LoopMount, TmpfsMount};
pub use network::{GlusterMount, SshfsMount};
pub use recorded::Recorded;
pub use servers::{MongoServer, PostgresServer, Proxy, ProxyFault, S3Server, WebServer};
pub use skipping::{SKIPPED_FILE_VARIABLE, current_test, skip, skip_unless_root, tell_what_is_left};
pub use throttle::Throttle;
