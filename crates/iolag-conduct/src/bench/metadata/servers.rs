//! What is different where clients ask a server: what cannot be asked of one, and what its connections need.

use iolag_backend::Target;
use iolag_model::{Connections, Durability, RunSpec, Trust, format_count};
use iolag_workload::{MetadataOptions, workload};

use crate::environment::limits::{Limits, Needs};
use crate::failure::Failure;

/// For so long a port is not used again (TIME_WAIT, tcp(7)).
const PORT_RESTS_S: u64 = 60;
/// Requests per second that a server of small objects may answer.
const RATE_PER_SECOND: u64 = 3000;

/// Refuses what a server cannot be asked for, and what is asked of it and is for directories.
pub(in crate::bench) fn refuse_of_servers(
    metadata: &MetadataOptions,
    target: &Target,
) -> Result<(), Failure> {
    if metadata.durability == Durability::Fsync && target.is_server() {
        return Err(Failure::usage(format!(
            "--fsync is for directories: how durable an object is that {target} takes, the server decides; leave it out"
        )));
    }
    Ok(())
}

/// What clients need that are tasks, each with a connection.
pub(in crate::bench) fn needs_of_tasks(clients: u32) -> Needs {
    let workers = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    Needs::of_tasks(clients, workers, clients)
}

/// That the ports of this host may not last, where each request has a connection of its own.
pub(in crate::bench) fn doubt_of_ports(spec: &RunSpec, limits: &Limits) -> Option<Trust> {
    let metadata = spec.workload.metadata().filter(|spec| spec.connections == Connections::Fresh)?;
    let each = workload(&spec.workload).samples_per_client().unwrap_or(u64::MAX);
    let needed = each.saturating_mul(u64::from(spec.clients));
    let ports = limits.ports().filter(|ports| *ports < needed)?;
    let limited = if metadata.time_limit.is_some() { "up to " } else { "" };
    Some(Trust {
        doubt: format!(
            "with --session fresh each request has a connection of its own, {limited}{} in all, and a local port that is not used again for {PORT_RESTS_S} s: \
             the {} of this host last {} s at {} requests a second",
            format_count(needed),
            format_count(ports),
            ports / RATE_PER_SECOND,
            format_count(RATE_PER_SECOND)
        ),
        advice: format!(
            "use fewer objects, stay below {} requests a second (--think), or widen net.ipv4.ip_local_port_range; what fails for want of a port is counted as errno 99",
            format_count(ports / PORT_RESTS_S)
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::bench::metadata::plan::plan_metadata;
    use crate::bench::options::BenchOptions;

    fn told(connections: Connections, ports: u64) -> Option<Trust> {
        let options =
            BenchOptions { sides: vec![Target::parse("memory:").unwrap().into()], ..BenchOptions::default() };
        let limits = Limits::with_ports(ports);
        let planned = plan_metadata(options, &MetadataOptions::default(), &limits).unwrap();
        let metadata = MetadataOptions { connections: vec![connections], ..MetadataOptions::default() };
        let workload = metadata.workload(metadata.variants()[0].1, 1).unwrap();
        doubt_of_ports(&RunSpec { workload, ..planned.runs[0].point.spec.clone() }, &limits)
    }

    #[test]
    fn ports_that_will_not_last_are_told_before_the_start() {
        let trust = told(Connections::Fresh, 28_232).unwrap();
        assert!(
            trust.doubt.contains("the 28 232 of this host last 9 s at 3 000 requests a second"),
            "{trust:?}"
        );
        assert!(trust.advice.contains("below 470 requests"), "{trust:?}");
        assert_eq!(told(Connections::Fresh, 10_000_000), None);
        assert_eq!(told(Connections::Reused, 28_232), None);
    }
}
