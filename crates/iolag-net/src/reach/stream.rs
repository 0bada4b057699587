//! A connection: as it is, protected, or within this host.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::client::TlsStream;

/// A connection to a server.
#[derive(Debug)]
pub enum Stream {
    /// As it is.
    Plain(TcpStream),
    /// By TLS.
    Protected(Box<TlsStream<TcpStream>>),
    /// By a socket of this host.
    Local(UnixStream),
}

impl Stream {
    /// The connection below, if it is one of TCP.
    pub fn tcp(&self) -> Option<&TcpStream> {
        match self {
            Self::Plain(stream) => Some(stream),
            Self::Protected(stream) => Some(stream.get_ref().0),
            Self::Local(_) => None,
        }
    }

    /// The version of TLS, if there is one.
    pub fn tls_version(&self) -> Option<&'static str> {
        let Self::Protected(stream) = self else { return None };
        stream.get_ref().1.protocol_version().and_then(|version| match version {
            rustls::ProtocolVersion::TLSv1_2 => Some("TLS 1.2"),
            rustls::ProtocolVersion::TLSv1_3 => Some("TLS 1.3"),
            _ => None,
        })
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Protected(stream) => Pin::new(stream.as_mut()).poll_read(context, buffer),
            Self::Local(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Protected(stream) => Pin::new(stream.as_mut()).poll_write(context, bytes),
            Self::Local(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Protected(stream) => Pin::new(stream.as_mut()).poll_flush(context),
            Self::Local(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Protected(stream) => Pin::new(stream.as_mut()).poll_shutdown(context),
            Self::Local(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(context, parts),
            Self::Protected(stream) => Pin::new(stream.as_mut()).poll_write_vectored(context, parts),
            Self::Local(stream) => Pin::new(stream).poll_write_vectored(context, parts),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Protected(stream) => stream.is_write_vectored(),
            Self::Local(stream) => stream.is_write_vectored(),
        }
    }
}
