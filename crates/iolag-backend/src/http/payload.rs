//! What is sent: the same piece again and again until it is enough, so that a long object needs no long buffer.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

/// The body of a request. Its length is told in the head.
#[derive(Debug, Clone, Default)]
pub(crate) struct Payload {
    piece: Bytes,
    left: u64,
}

impl Payload {
    /// `length` bytes: the piece, as often as it takes.
    pub(crate) fn new(piece: Bytes, length: u64) -> Self {
        let left = if piece.is_empty() { 0 } else { length };
        Self { piece, left }
    }
}

impl From<Bytes> for Payload {
    fn from(piece: Bytes) -> Self {
        let left = piece.len() as u64;
        Self { piece, left }
    }
}

impl Body for Payload {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let length = self.left.min(self.piece.len() as u64);
        self.left -= length;
        Poll::Ready(Some(Ok(Frame::data(self.piece.slice(..length as usize)))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
