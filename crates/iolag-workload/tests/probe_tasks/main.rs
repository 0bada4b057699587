//! The tasks of probes, for real: on a temporary directory, and on a file system that is slow or hangs.

mod files;
mod killed;
mod programs;
mod removal;
mod shells;
mod support;
