//! What the parts of the requests of an operation took.

use iolag_model::Operation;

use super::quantity::ProfileQuantity;
use crate::run::summary::Summary;

/// Where the time of an operation goes: means, since these add up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeSpent {
    /// Requests to the server for each attempt; each is a round trip.
    pub requests: f64,
    /// Mean duration of an attempt, in ns; absent if of any only a bound is known.
    pub whole_ns: Option<f64>,
    /// Of that: finding the address of a name.
    pub resolve_ns: f64,
    /// Of that: making connections, and saying who we are where that is a part of it.
    pub connect_ns: f64,
    /// Of that: agreeing on TLS.
    pub tls_ns: f64,
    /// Of that: from the begin of the request to the first byte of the answer.
    pub first_byte_ns: f64,
    /// Of the wait for the first byte: what the server says that it took.
    pub server_ns: Option<f64>,
}

impl TimeSpent {
    /// Of the attempts of these rows that succeeded; nothing where no server was asked.
    pub fn of<'a>(rows: impl Iterator<Item = &'a Summary> + Clone) -> Option<Self> {
        let attempts: u64 = rows.clone().map(Summary::succeeded).sum();
        let parts = || rows.clone().flat_map(|row| &row.parts);
        if attempts == 0 || parts().next().is_none() {
            return None;
        }
        let of = |wanted: Operation| parts().filter(move |spent| spent.part == wanted);
        let count = |part| of(part).map(|spent| spent.count).sum::<u64>();
        let mean_ns = |part| of(part).map(|spent| spent.total_ns.0).sum::<u64>() as f64 / attempts as f64;
        let whole_ns = |row: &Summary| Some(row.durations.mean_ns? * row.succeeded() as f64);
        let has_succeeded = |row: &&Summary| row.succeeded() > 0;
        let whole_ns: Option<f64> = rows.clone().filter(has_succeeded).map(whole_ns).sum();
        Some(Self {
            requests: count(Operation::CallFirstByte) as f64 / attempts as f64,
            whole_ns: whole_ns.map(|whole| whole / attempts as f64),
            resolve_ns: mean_ns(Operation::CallResolve),
            connect_ns: mean_ns(Operation::CallConnect),
            tls_ns: mean_ns(Operation::CallTls),
            first_byte_ns: mean_ns(Operation::CallFirstByte),
            server_ns: (count(Operation::CallServer) > 0).then(|| mean_ns(Operation::CallServer)),
        })
    }

    /// The numbers by what they are; names, TLS and the time of the server only where there is any.
    pub fn profile(&self) -> Vec<(ProfileQuantity, f64)> {
        let some = |ns: f64| (ns > 0.0).then_some(ns);
        let amounts = [
            (ProfileQuantity::RoundTrips, Some(self.requests)),
            (ProfileQuantity::Resolve, some(self.resolve_ns)),
            (ProfileQuantity::Connect, some(self.connect_ns)),
            (ProfileQuantity::Tls, some(self.tls_ns)),
            (ProfileQuantity::FirstByte, Some(self.first_byte_ns)),
            (ProfileQuantity::Server, self.server_ns),
            (ProfileQuantity::Rest, self.rest_ns()),
        ];
        amounts.into_iter().filter_map(|(quantity, amount)| Some((quantity, amount?))).collect()
    }

    /// What is in none of the parts: what came after the first byte, and the work of this host.
    pub fn rest_ns(&self) -> Option<f64> {
        let parts = self.resolve_ns + self.connect_ns + self.tls_ns + self.first_byte_ns;
        self.whole_ns.map(|whole| (whole - parts).max(0.0))
    }
}
