//! `delayed:LATENCY[,OPERATION=LATENCY]…:INNER`, where LATENCY is `5ms`, `5ms~exp`, `5ms~uniform` or
//! `5ms~lognormal(0.5)`.

use std::f64::consts::TAU;

use iolag_model::{Level, Nanoseconds, Operation, Random, parse_duration};

/// How long an operation is delayed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Latency {
    mean: Nanoseconds,
    distribution: Distribution,
}

/// How delays are spread around their mean.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Distribution {
    Constant,
    Exponential,
    /// From 0 to twice the mean.
    Uniform,
    /// The logarithm is normally distributed with this standard deviation.
    LogNormal(f64),
}

impl Latency {
    /// One delay. Its expectation is the mean under every distribution.
    pub(crate) fn draw(&self, random: &mut Random) -> Nanoseconds {
        let factor = match self.distribution {
            Distribution::Constant => return self.mean,
            // 1 - u is in (0, 1]: the logarithm is finite.
            Distribution::Exponential => -(1.0 - random.unit()).ln(),
            Distribution::Uniform => 2.0 * random.unit(),
            Distribution::LogNormal(sigma) => {
                // Box and Muller, 1958; exp(σz − σ²/2) has the expectation 1.
                let normal = (-2.0 * (1.0 - random.unit()).ln()).sqrt() * (TAU * random.unit()).cos();
                (sigma * normal - sigma * sigma / 2.0).exp()
            }
        };
        Nanoseconds((self.mean.0 as f64 * factor) as u64)
    }
}

/// Delays by operation.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Latencies {
    default: Option<Latency>,
    by_operation: Vec<(Operation, Latency)>,
}

impl Latencies {
    /// The delay of this operation, if it has one.
    pub(crate) fn of(&self, operation: Operation) -> Option<Latency> {
        let own = self.by_operation.iter().find(|(named, _)| *named == operation);
        own.map(|(_, latency)| *latency).or(self.default)
    }
}

/// Parses what stands between `delayed:` and `:INNER`; an error says where and what was expected.
pub(crate) fn parse_latencies(text: &str) -> Result<Latencies, String> {
    let mut latencies = Latencies::default();
    for (index, item) in text.split(',').enumerate() {
        let number = index + 1;
        let (operation, latency) = match item.split_once('=') {
            Some((name, latency)) => (
                Some(parse_operation(name).map_err(|reason| format!("in delay {number}, {reason}"))?),
                latency,
            ),
            None => (None, item),
        };
        let latency = parse_latency(latency).map_err(|reason| format!("in delay {number}, {reason}"))?;
        let is_known = match operation {
            None => latencies.default.replace(latency).is_some(),
            Some(operation) => {
                let is_known = latencies.by_operation.iter().any(|(named, _)| *named == operation);
                latencies.by_operation.push((operation, latency));
                is_known
            }
        };
        if is_known {
            let subject = operation.map_or("all other operations", Operation::name);
            return Err(format!("delay {number} is a second one for {subject}"));
        }
    }
    Ok(latencies)
}

/// Parses the name of an operation on objects, of a call or of a stream.
pub(crate) fn parse_operation(name: &str) -> Result<Operation, String> {
    name.parse()
        .ok()
        .filter(|operation: &Operation| {
            matches!(operation.level(), Level::Object | Level::Call | Level::Stream)
        })
        .ok_or_else(|| {
            format!("{name:?} is not an operation such as stat, create, call.open or stream.write")
        })
}

fn parse_latency(text: &str) -> Result<Latency, String> {
    let (mean, distribution) = match text.split_once('~') {
        None => (text, Distribution::Constant),
        Some((mean, "exp")) => (mean, Distribution::Exponential),
        Some((mean, "uniform")) => (mean, Distribution::Uniform),
        Some((mean, other)) => {
            let sigma = other
                .strip_prefix("lognormal(")
                .and_then(|rest| rest.strip_suffix(')'))
                .and_then(|sigma| sigma.parse().ok())
                .filter(|sigma: &f64| (0.0..=10.0).contains(sigma));
            match sigma {
                Some(sigma) => (mean, Distribution::LogNormal(sigma)),
                None => {
                    return Err(format!(
                        "{other:?} is not a distribution: expected exp, uniform or lognormal(S) with S from 0 to 10"
                    ));
                }
            }
        }
    };
    let mean = parse_duration(mean).map_err(|error| error.to_string())?;
    Ok(Latency { mean, distribution })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn delays_are_given_for_all_or_by_operation() {
        let latencies = parse_latencies("2ms,create=20ms~exp,write+fsync=1s").unwrap();
        let mut random = Random::of_stream(0, 0);
        let delay = latencies.of(Operation::Stat).unwrap().draw(&mut random);
        assert_eq!(delay, Nanoseconds::from_milliseconds(2));
        assert_eq!(latencies.of(Operation::WriteDurably).unwrap().mean, Nanoseconds::from_seconds(1));
        assert_eq!(latencies.of(Operation::Create).unwrap().distribution, Distribution::Exponential);
        assert_eq!(parse_latencies("stat=1ms").unwrap().of(Operation::Read), None);
    }

    #[test]
    fn an_error_says_where_and_what_was_expected() {
        for (text, expected) in [
            ("", "in delay 1, \"\" is not a duration"),
            ("5", "in delay 1, \"5\" is not a duration"),
            ("1ms,stta=1ms", "in delay 2, \"stta\" is not an operation such as stat"),
            ("ls -l=1ms", "is not an operation"),
            ("1ms,2ms", "delay 2 is a second one for all other operations"),
            ("stat=1ms,stat=2ms", "delay 2 is a second one for stat"),
            ("1ms~normal", "\"normal\" is not a distribution: expected exp"),
            ("1ms~lognormal(-1)", "is not a distribution"),
            ("1ms~lognormal(NaN)", "is not a distribution"),
            ("1ms~", "is not a distribution"),
        ] {
            let error = parse_latencies(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn every_distribution_keeps_the_mean() {
        const DRAWS: u64 = 200_000;
        for text in ["1ms", "1ms~exp", "1ms~uniform", "1ms~lognormal(0.5)"] {
            let latency = parse_latency(text).unwrap();
            let mut random = Random::of_stream(5, 0);
            let mean = (0..DRAWS).map(|_| latency.draw(&mut random).0).sum::<u64>() / DRAWS;
            // The standard error is at most 2300 ns.
            assert!(mean.abs_diff(1_000_000) < 12_000, "{text}: {mean}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[a-z0-9=,~().+ -]{0,40}|\\PC{0,40}") {
            if let Ok(latencies) = parse_latencies(&text) {
                let mut random = Random::of_stream(1, 1);
                for operation in Operation::ALL {
                    latencies.of(*operation).map(|latency| latency.draw(&mut random));
                }
            }
        }
    }
}
