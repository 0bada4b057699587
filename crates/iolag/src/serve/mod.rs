//! `iolag serve`: what a watch does and has found out, over HTTP, for people on this machine and for their monitoring.
//!
//! ```text
//! server (one thread, never touches a history) ──── GET /, /data, /status, /metrics, … ──── browser, Prometheus
//!   │                                            └─── GET /metrics over TLS, for who is admitted ──── Prometheus elsewhere
//!   │ reads the watch's status from memory (tmpfs), keeps the last reading of the history
//!   ├─ follower (child, may hang): follows what is new in the history, tells its counts through a pipe and keeps them in memory
//!   └─ reporter (child when a page is open, may hang): makes the document of the live page
//! ```
//!
//! Invariants: but for metrics over TLS it listens on loopback only and answers only to names of loopback, so that no page of
//! another site can read it through a browser (DNS rebinding); it changes nothing, and has no path, query or file that a request could choose; a history
//! that hangs takes away what only the history knows, and nothing waits for it; connections, their number, the size of
//! requests and every wait have limits.
//!
//! Limits: whoever is logged in on this machine can read what it shows.

mod attended;
mod counts;
mod documents;
mod door;
mod elsewhere;
mod listen;
mod routes;
mod view;

pub use counts::textfile::{Textfile, write_textfile};
pub use documents::MakeDocument;
pub use door::address::{LoopbackAddress, tunnel_advice};
pub use door::admission::AdmissionFiles;
pub use elsewhere::Elsewhere;
pub use listen::{Listening, Serving, serve};
