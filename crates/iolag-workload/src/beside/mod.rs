//! Beside the load of a bench: clients that ask little, at moments of their own, and measure what everybody else feels.
//!
//! ```text
//! load:      precreate | all meet, quiet | stage | stage | all meet, quiet | waits for bystanders | cleanup
//! bystander:           | before ........ | during each . | after ......... | removes its files, ends
//! ```
//! The load tells what time it is ([`iolag_model::LoadCourse`]); who measures beside it looks, and meets nobody.

pub(crate) mod client;
pub(crate) mod load;
pub(crate) mod session;
pub(crate) mod spec;
