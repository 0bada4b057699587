//! A web server with a small object, a large one, and one for which it is busy at first.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};

/// Bytes of the large object.
pub(crate) const LARGE: usize = 3 << 20;

/// Serves each connection on a thread of its own.
pub(crate) fn serve() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("the loopback has a free port");
    let server = listener.local_addr().expect("it is bound");
    std::thread::spawn(move || {
        listener.incoming().flatten().for_each(|stream| drop(std::thread::spawn(move || answer(&stream))));
    });
    server
}

fn answer(mut stream: &TcpStream) -> io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let mut is_busy = true;
    while let Some(line) = lines.next() {
        let line = line?;
        let large = vec![7; LARGE];
        let (status, body): (&str, &[u8]) = match line.split(' ').nth(1) {
            Some("/small") => ("200 OK", b"abc"),
            Some("/large") => ("200 OK", &large),
            Some("/busy") if std::mem::take(&mut is_busy) => ("503 Slow Down", b"later"),
            Some("/busy") => ("200 OK", b""),
            _ => ("404 Not Found", b"no"),
        };
        while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
        write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", body.len())?;
        stream.write_all(body)?;
    }
    Ok(())
}
