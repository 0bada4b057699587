//! Who is at the other end of a socket, as far as its address tells.

/// Who is spoken with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// Who knows what users, groups or hosts are called.
    NameService,
    /// Somebody else.
    Other,
}

/// Sockets of daemons that know names: nscd, sssd, nslcd, winbind, systemd's for users and for hosts, avahi.
const DAEMONS: [&[u8]; 8] = [
    b"/nscd/socket",
    b"/sss/pipes/",
    b"/nslcd/socket",
    b"/winbindd/pipe",
    b"/winbindd_privileged/pipe",
    b"/systemd/userdb/",
    b"/systemd/resolve/",
    b"/avahi-daemon/socket",
];
/// Where daemons have their sockets.
const PLACES: [&[u8]; 4] = [b"/run/", b"/var/run/", b"/var/lib/sss/", b"/var/lib/samba/"];
/// DNS, LDAP, and LDAP with TLS.
const PORTS: [&[u8]; 3] = [b"53", b"389", b"636"];

impl Peer {
    /// Of the text of a call's arguments; nothing if they have no address.
    pub(crate) fn of(text: &[u8]) -> Option<Self> {
        let after = |word: &[u8]| memchr::memmem::find(text, word).map(|at| &text[at + word.len()..]);
        if let Some(path) = after(b"sun_path=\"") {
            let path = &path[..path.iter().position(|byte| *byte == b'"').unwrap_or(path.len())];
            let is_daemon = PLACES.iter().any(|place| path.starts_with(place))
                && DAEMONS.iter().any(|daemon| memchr::memmem::find(path, daemon).is_some());
            return Some(if is_daemon { Self::NameService } else { Self::Other });
        }
        if let Some(port) = after(b"sin_port=htons(").or_else(|| after(b"sin6_port=htons(")) {
            let port = &port[..port.iter().position(|byte| *byte == b')').unwrap_or(port.len())];
            return Some(if PORTS.contains(&port) { Self::NameService } else { Self::Other });
        }
        after(b"sa_family=").map(|_| Self::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_services_are_known_by_their_addresses() {
        let of = |text: &str| Peer::of(text.as_bytes());
        for known in [
            r#"3, {sa_family=AF_UNIX, sun_path="/var/run/nscd/socket"}, 110"#,
            r#"3, {sa_family=AF_UNIX, sun_path="/var/lib/sss/pipes/nss"}, 110"#,
            r#"3, {sa_family=AF_UNIX, sun_path="/run/systemd/userdb/io.systemd.Multiplexer"}, 45"#,
            r#"3, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("127.0.0.53")}, 16"#,
            r#"3, {sa_family=AF_INET6, sin6_port=htons(636), sin6_flowinfo=htonl(0)}, 28"#,
            r#"3, ""..., 43, MSG_NOSIGNAL, {sa_family=AF_INET, sin_port=htons(53)}, 16"#,
        ] {
            assert_eq!(of(known), Some(Peer::NameService), "{known}");
        }
        for other in [
            r#"3, {sa_family=AF_UNIX, sun_path="/tmp/nscd/socket"}, 110"#,
            r#"3, {sa_family=AF_UNIX, sun_path=@"/run/nscd/socket"}, 110"#,
            r#"3, {sa_family=AF_INET, sin_port=htons(5389), sin_addr=inet_addr("10.0.0.1")}, 16"#,
            r"3, {sa_family=AF_NETLINK, nl_pid=0, nl_groups=00000000}, 12",
        ] {
            assert_eq!(of(other), Some(Peer::Other), "{other}");
        }
        assert_eq!(of(r#"3, ""..., 43, MSG_NOSIGNAL, NULL, 0"#), None);
    }
}
