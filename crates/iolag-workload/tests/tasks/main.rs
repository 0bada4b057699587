//! Tasks for real, in probes and in a check: on a temporary directory, and on a file system that is slow or hangs.

mod check;
mod files;
mod killed;
mod programs;
mod removal;
mod shells;
mod support;
