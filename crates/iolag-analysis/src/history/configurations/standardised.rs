//! How far hosts are from what all of them do together, so that hosts with many and with few attempts can be compared.
//!
//! The share of a host is more often 0, and further from it if it is not, the fewer attempts it has. So hosts are not exchanged by their shares, but by
//! the deviation from the common share p, divided by what it deviates by chance: r / sqrt(σ² + p (1 - p) / n), where σ² is the variance between hosts,
//! by moments, and p is weighted by the same variances (Kleinman 1973; Williams 1982). Its mean is 0 and its variance 1 for every n, whatever the
//! distribution of shares between hosts. It is not ranked, since the rank of a skew number depends on n.

/// Attempts of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostAttempts {
    /// Those that passed their deadline.
    pub past: u64,
    /// All of them; at least one.
    pub attempts: u64,
}

impl HostAttempts {
    /// The share of attempts that passed their deadline.
    pub fn share(self) -> f64 {
        self.past as f64 / self.attempts.max(1) as f64
    }

    /// The variance of its share by chance, if that of all hosts is `share`.
    pub(crate) fn variance(self, share: f64) -> f64 {
        share * (1.0 - share) / self.attempts.max(1) as f64
    }
}

/// The share of the attempts of all of these.
pub(crate) fn pooled(hosts: &[HostAttempts]) -> f64 {
    let sum = |of: fn(&HostAttempts) -> u64| hosts.iter().map(of).sum::<u64>();
    sum(|host| host.past) as f64 / sum(|host| host.attempts).max(1) as f64
}

/// Of each host its standardised deviation, less the mean of them.
pub(crate) fn standardised(hosts: &[HostAttempts]) -> Vec<f64> {
    let rough = pooled(hosts);
    let between = variance_between(hosts, rough);
    let variance = |host: &HostAttempts, share: f64| between + host.variance(share);
    let weight = |host: &HostAttempts| 1.0 / variance(host, rough).max(f64::MIN_POSITIVE);
    let weights: f64 = hosts.iter().map(weight).sum();
    let share = hosts.iter().map(|host| weight(host) * host.share()).sum::<f64>() / weights;
    let deviation = |host: &HostAttempts| match variance(host, share).sqrt() {
        nothing if nothing <= 0.0 || nothing.is_nan() => 0.0,
        by_chance => (host.share() - share) / by_chance,
    };
    let deviations: Vec<f64> = hosts.iter().map(deviation).collect();
    let mean = deviations.iter().sum::<f64>() / deviations.len().max(1) as f64;
    deviations.into_iter().map(|deviation| deviation - mean).collect()
}

/// What the shares of hosts differ by more than chance.
fn variance_between(hosts: &[HostAttempts], share: f64) -> f64 {
    let (mut more, mut pairs) = (0.0, 0.0);
    for host in hosts {
        let attempts = host.attempts as f64;
        more += (host.past as f64 - attempts * share).powi(2) - attempts * share * (1.0 - share);
        pairs += attempts * (attempts - 1.0);
    }
    if pairs > 0.0 { (more / pairs).max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_do_the_same_are_as_far_off_whatever_their_attempts_are() {
        let host = |past, attempts| HostAttempts { past, attempts };
        // One standard deviation above 10 %, and one below, by chance alone.
        let off = standardised(&[host(13, 100), host(7, 100), host(99, 900), host(81, 900)]);
        let expected = [1.0, -1.0, 1.0, -1.0];
        assert!(off.iter().zip(expected).all(|(off, expected)| (off - expected).abs() < 1e-9), "{off:?}");
        assert_eq!(standardised(&[host(0, 5), host(0, 9)]), [0.0, 0.0]);
        // Between hosts that share nothing, attempts hardly count.
        let apart = standardised(&[host(0, 10), host(1000, 1000), host(10, 10), host(0, 1000)]);
        assert!(apart.iter().all(|off| (0.9..1.1).contains(&off.abs())), "{apart:?}");
    }
}
