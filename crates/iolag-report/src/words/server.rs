//! A server at the first contact, in words.

use iolag_model::{Nanoseconds, RunRecord, ServerRecord, format_duration};

/// As in `PostgreSQL 17.6 at 10.0.0.7:5432, TLS 1.3; its first answer took 3.42 ms: call.connect 121 µs, call.first-byte 3.30 ms`.
pub(crate) fn server_words(server: &ServerRecord) -> String {
    let mut text = server.software.clone().unwrap_or_else(|| "a server".to_owned());
    if let Some(address) = &server.address {
        text.push_str(&format!(" at {address}"));
    }
    text.push_str(&format!(", {}", server.protection.as_deref().unwrap_or("without TLS")));
    if server.parts.is_empty() {
        return text;
    }
    let all = server.parts.iter().map(|part| part.duration_ns.0).sum();
    let part =
        |part: &iolag_model::ContactPart| format!("{} {}", part.operation, format_duration(part.duration_ns));
    let parts: Vec<String> = server.parts.iter().map(part).collect();
    text.push_str(&format!(
        "; its first answer took {}: {}",
        format_duration(Nanoseconds(all)),
        parts.join(", ")
    ));
    text
}

/// What operations mean on the servers of a run, each kind once.
pub(crate) fn meanings(run: &RunRecord) -> Vec<&str> {
    let servers = run.targets.iter().filter_map(|target| target.server.as_ref());
    let mut meanings: Vec<&str> = servers.filter_map(|server| server.operations.as_deref()).collect();
    meanings.dedup();
    meanings
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::{ContactPart, Operation};

    #[test]
    fn what_is_known_is_told() {
        let part = |operation, microseconds: u64| ContactPart {
            operation,
            duration_ns: Nanoseconds(microseconds * 1000),
        };
        let whole = ServerRecord {
            software: Some("nginx/1.26".to_owned()),
            address: Some("10.0.0.7:443".to_owned()),
            protection: Some("TLS 1.3".to_owned()),
            operations: None,
            parts: vec![part(Operation::CallConnect, 120), part(Operation::CallFirstByte, 880)],
        };
        assert_eq!(
            server_words(&whole),
            "nginx/1.26 at 10.0.0.7:443, TLS 1.3; its first answer took 1.00 ms: call.connect 120 µs, call.first-byte 880 µs"
        );
        assert_eq!(server_words(&ServerRecord::default()), "a server, without TLS");
    }
}
