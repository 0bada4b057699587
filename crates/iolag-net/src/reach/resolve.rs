//! Names to addresses, by the system's resolver: it knows /etc/hosts, the search list and what the site has configured.

use std::ffi::{CString, c_int};
use std::net::SocketAddr;
use std::ptr;

use tokio::sync::oneshot;

/// The addresses of a server; or the code of getaddrinfo(3), without its sign.
///
/// A resolver that does not answer holds its own thread only: who is tired of waiting drops the future.
pub(super) async fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, u8> {
    let (told, answer) = oneshot::channel();
    let host = CString::new(host).map_err(|_| code(libc::EAI_NONAME))?;
    let resolver = std::thread::Builder::new().name("resolver".to_owned()).stack_size(256 << 10);
    let asks = move || {
        // Nobody may be waiting any more.
        let _ = told.send(ask(&host, port));
    };
    resolver.spawn(asks).map_err(|_| code(libc::EAI_AGAIN))?;
    answer.await.unwrap_or_else(|_| Err(code(libc::EAI_FAIL)))
}

const fn code(code: c_int) -> u8 {
    code.unsigned_abs() as u8
}

fn ask(host: &CString, port: u16) -> Result<Vec<SocketAddr>, u8> {
    // SAFETY: a struct of numbers and pointers, for which all zeros are the defaults (getaddrinfo(3)).
    let mut hints: libc::addrinfo = unsafe { std::mem::zeroed() };
    hints.ai_family = libc::AF_UNSPEC;
    hints.ai_socktype = libc::SOCK_STREAM;
    let mut list = ptr::null_mut();
    // SAFETY: the name ends with a zero, no service is asked for, and the list is freed below.
    let failed = unsafe { libc::getaddrinfo(host.as_ptr(), ptr::null(), &hints, &mut list) };
    if failed != 0 {
        return Err(code(failed));
    }
    let mut addresses = Vec::new();
    let mut next: *const libc::addrinfo = list;
    while !next.is_null() {
        // SAFETY: an entry of the list that is not freed yet.
        let entry = unsafe { &*next };
        addresses.extend(address_of(entry, port));
        next = entry.ai_next;
    }
    // SAFETY: it is what getaddrinfo gave, and nothing of it is used any more.
    unsafe { libc::freeaddrinfo(list) };
    if addresses.is_empty() { Err(code(libc::EAI_NONAME)) } else { Ok(addresses) }
}

fn address_of(entry: &libc::addrinfo, port: u16) -> Option<SocketAddr> {
    match entry.ai_family {
        libc::AF_INET => {
            // SAFETY: an entry of this family has an address of it; it may lie unaligned.
            let address = unsafe { entry.ai_addr.cast::<libc::sockaddr_in>().read_unaligned() };
            let octets = address.sin_addr.s_addr.to_ne_bytes();
            Some(SocketAddr::from((octets, port)))
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let address = unsafe { entry.ai_addr.cast::<libc::sockaddr_in6>().read_unaligned() };
            let ip = address.sin6_addr.s6_addr.into();
            Some(SocketAddr::V6(std::net::SocketAddrV6::new(ip, port, 0, address.sin6_scope_id)))
        }
        _ => None,
    }
}
