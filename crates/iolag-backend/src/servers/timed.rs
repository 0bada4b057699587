//! A connection that notes when the first byte of an answer came.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use iolag_model::{Clock, MonotonicClock, MonotonicTime};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// When the first byte came since it was last forgotten; 0 is never.
#[derive(Debug, Clone, Default)]
pub(crate) struct FirstByte(Arc<AtomicU64>);

impl FirstByte {
    pub(crate) fn forget(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> Option<MonotonicTime> {
        let moment = self.0.load(Ordering::Relaxed);
        (moment != 0).then_some(MonotonicTime(moment))
    }

    fn came(&self) {
        if self.0.load(Ordering::Relaxed) == 0 {
            self.0.store(MonotonicClock.now().0, Ordering::Relaxed);
        }
    }
}

/// The connection.
pub(crate) struct Timed<S> {
    stream: S,
    first_byte: FirstByte,
}

impl<S> Timed<S> {
    pub(crate) const fn new(stream: S, first_byte: FirstByte) -> Self {
        Self { stream, first_byte }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Timed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.first_byte.came();
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Timed<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
