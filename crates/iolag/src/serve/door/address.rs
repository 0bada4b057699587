//! Where is listened, and to which names is answered: loopback and nothing else.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

/// A port of loopback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoopbackAddress(SocketAddr);

impl LoopbackAddress {
    /// The address.
    pub const fn socket(self) -> SocketAddr {
        self.0
    }
}

impl FromStr for LoopbackAddress {
    type Err = String;

    /// `127.0.0.1:9716`, `[::1]:9716`, `localhost:9716`. No name service is asked.
    fn from_str(text: &str) -> Result<Self, String> {
        let address = match text.strip_prefix("localhost:") {
            Some(port) => port.parse().ok().map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port))),
            None => text.parse().ok(),
        };
        let address =
            address.ok_or("expected an address of this machine and a port, as in 127.0.0.1:9716")?;
        if address.ip().to_canonical().is_loopback() {
            return Ok(Self(address));
        }
        Err(format!(
            "{} can be reached from other machines, and there is no password; listen on 127.0.0.1 and {}; for metrics alone there is --metrics-listen",
            address.ip(),
            tunnel_advice(address.port())
        ))
    }
}

/// How to look at it from another machine.
pub fn tunnel_advice(port: u16) -> String {
    format!("from elsewhere go through ssh: ssh -L {port}:127.0.0.1:{port} THIS-HOST")
}

/// Whether the Host header of a request names loopback. The port may be another one: tunnels have their own.
pub(in crate::serve) fn is_local_name(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    let is_bracketed = address.len() != name.len();
    match address.parse::<IpAddr>() {
        Ok(IpAddr::V6(address)) => is_bracketed && address.to_canonical().is_loopback(),
        Ok(IpAddr::V4(address)) => !is_bracketed && address.is_loopback(),
        Err(_) => name.eq_ignore_ascii_case("localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_loopback_is_listened_on() {
        for text in ["127.0.0.1:9716", "127.8.9.1:0", "[::1]:80", "localhost:9716", "[::ffff:127.0.0.1]:1"] {
            assert!(text.parse::<LoopbackAddress>().is_ok(), "{text}");
        }
        for text in ["0.0.0.0:9716", "[::]:9716", "192.168.1.4:80", "8.8.8.8:53"] {
            let refused = text.parse::<LoopbackAddress>().unwrap_err();
            assert!(refused.contains("no password") && refused.contains("ssh -L"), "{refused}");
        }
        for text in ["", "9716", "localhost", "localhost:", "localhost:99999", "example.org:80", "127.0.0.1"]
        {
            assert!(text.parse::<LoopbackAddress>().unwrap_err().starts_with("expected"), "{text}");
        }
    }

    #[test]
    fn only_names_of_loopback_are_answered() {
        for host in
            ["localhost", "LocalHost:1", "127.0.0.1", "127.0.0.1:9716", "[::1]", "[::1]:9716", "127.3.2.1"]
        {
            assert!(is_local_name(host), "{host}");
        }
        for host in [
            "",
            ":9716",
            "evil.example",
            "evil.example:9716",
            "127.0.0.1.evil.example",
            "localhost.evil.example:80",
            "evil-localhost",
            "10.0.0.1",
            "0.0.0.0",
            "[::]",
            "::1",
            "[127.0.0.1]",
            "localhost:80:80",
            "127.1",
            "localhost.",
            "127.0.0.1@evil.example",
            "2130706433",
        ] {
            assert!(!is_local_name(host), "{host}");
        }
    }

    proptest! {
        #[test]
        fn a_foreign_name_is_never_taken(name in "[a-z0-9.-]{1,30}\\.[a-z]{2,8}", port in any::<u16>()) {
            let (bare, with_port) = (is_local_name(&name), is_local_name(&format!("{name}:{port}")));
            prop_assert!(!bare && !with_port);
        }

        #[test]
        fn nothing_panics(text in any::<String>()) {
            let _ = (is_local_name(&text), text.parse::<LoopbackAddress>());
        }
    }
}
