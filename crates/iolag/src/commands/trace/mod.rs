//! `iolag trace`: what a program asks of the file systems, and where its time goes.

pub mod export;
pub mod file;
mod from;

pub use from::run;
