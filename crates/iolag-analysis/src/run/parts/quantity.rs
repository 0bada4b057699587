//! What is told of an operation, to be put beside the same of that operation elsewhere.

/// One of the numbers, in the order in which they are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProfileQuantity {
    /// Attempts that succeeded per second of their stages, of all clients together.
    Rate,
    /// The median duration, in ns.
    Median,
    /// The duration that 99 % of the attempts did not exceed, in ns; of stages that repeat each other the middle.
    P99,
    /// The longest duration, in ns.
    Longest,
    /// Requests to the server for each attempt.
    RoundTrips,
    /// Of the mean duration: finding the address of a name, in ns. All that follow are parts of it, and add up.
    Resolve,
    /// Making connections.
    Connect,
    /// Agreeing on TLS.
    Tls,
    /// Waiting for the first byte of the answer.
    FirstByte,
    /// Of the wait for the first byte: what the server says that it took.
    Server,
    /// Receiving the rest, and the work of this host.
    Rest,
}

impl ProfileQuantity {
    /// Its name in JSON, with the unit last.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rate => "per_second",
            Self::Median => "median_ns",
            Self::P99 => "p99_ns",
            Self::Longest => "max_ns",
            Self::RoundTrips => "round_trips",
            Self::Resolve => "resolve_mean_ns",
            Self::Connect => "connect_mean_ns",
            Self::Tls => "tls_mean_ns",
            Self::FirstByte => "first_byte_mean_ns",
            Self::Server => "server_mean_ns",
            Self::Rest => "rest_mean_ns",
        }
    }
}
