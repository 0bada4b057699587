//! A tree that is there already, which is only read: nothing is made, written or removed in it, and no working directory.
//!
//! Invariants: whatever is opened is opened relative to a descriptor of the tree, through no symbolic link and into no other mount, so that
//! nobody can lead us out of it; only directories and regular files are opened. Access times stay as they are where the system allows that.
//!
//! Limits: before Linux 5.6 (openat2(2)), and where a container forbids that call, directories are opened name by name, and what is mounted below
//! is known by its device: a directory of the same file system that is bound into the tree is then read like any other, unless it holds itself.

mod list;
mod onlooker;
mod reach;
mod session;
mod shared;
mod walk;

pub(super) use onlooker::Onlooker;
pub(super) use session::TreeSession;
pub use shared::Tree;

#[cfg(test)]
mod tests;
