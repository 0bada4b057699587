//! Reading a pipe that somebody writes to in small pieces, seldom: a reader that woke for each of them would cost more than it reads.

use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use iolag_keeper::{Awaited, wait_for_any};
use iolag_model::Nanoseconds;

/// How long more is waited for, once something is there.
const INTERVAL_MAX: Nanoseconds = Nanoseconds::from_milliseconds(10);
/// The same where so much comes that the pipe would be full.
const INTERVAL_MIN: Nanoseconds = Nanoseconds::from_milliseconds(1);
/// What a pipe holds, where the system lets it.
const PIPE_BYTES: usize = 1 << 20;
const BUFFER_BYTES: usize = 64 << 10;

/// The reading end of such a pipe.
#[derive(Debug)]
pub(super) struct Gulps {
    pipe: PipeReader,
    /// What it holds.
    room: usize,
    interval: Nanoseconds,
    buffer: Vec<u8>,
}

impl Gulps {
    /// Of this pipe, which becomes as large as it may.
    ///
    /// # Errors
    /// If the kernel does not know it.
    pub(super) fn of(pipe: PipeReader) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        // SAFETY: only changes the size of the pipe; a system that allows less refuses, and it stays as it is.
        let set = unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETPIPE_SZ, PIPE_BYTES as i32) };
        let room = usize::try_from(set).unwrap_or(BUFFER_BYTES);
        Ok(Self { pipe, room, interval: INTERVAL_MAX, buffer: vec![0; BUFFER_BYTES] })
    }

    /// Waits until something comes, `other` has something, or `limit` is over; then a little more, and takes everything. Says how much that
    /// was.
    ///
    /// # Errors
    /// Those of the pipe and of who takes it.
    pub(super) fn gulp(
        &mut self,
        other: &[BorrowedFd<'_>],
        limit: Nanoseconds,
        mut take: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<usize> {
        let pipe = [Awaited::Readable(self.pipe.as_fd())];
        let awaited: Vec<_> = pipe.into_iter().chain(other.iter().copied().map(Awaited::Readable)).collect();
        if wait_for_any(&awaited, Some(limit)).first() != Some(&true) {
            return Ok(0);
        }
        std::thread::sleep(self.interval.as_duration());
        let taken = self.drain(&mut take)?;
        self.interval = match taken {
            _ if taken > self.room / 2 => Nanoseconds(self.interval.0 / 2).max(INTERVAL_MIN),
            _ if taken < self.room / 8 => Nanoseconds(self.interval.0 * 2).min(INTERVAL_MAX),
            _ => self.interval,
        };
        Ok(taken)
    }

    /// Takes what is there.
    ///
    /// # Errors
    /// Those of the pipe and of who takes it.
    pub(super) fn drain(&mut self, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<usize> {
        let mut taken = 0;
        loop {
            match self.pipe.read(&mut self.buffer) {
                Ok(0) => return Ok(taken),
                Ok(read) => {
                    taken += read;
                    take(&self.buffer[..read])?;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(taken),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn nothing_is_lost_however_much_comes() {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut gulps = Gulps::of(reader).unwrap();
        let writing = std::thread::spawn(move || {
            for number in 0..200_000_u32 {
                writer.write_all(format!("{number}\n").as_bytes()).unwrap();
            }
        });
        let mut text = Vec::new();
        while !writing.is_finished() {
            gulps
                .gulp(&[], Nanoseconds::from_milliseconds(50), |piece| {
                    text.extend_from_slice(piece);
                    Ok(())
                })
                .unwrap();
        }
        gulps
            .drain(|piece| {
                text.extend_from_slice(piece);
                Ok(())
            })
            .unwrap();
        let expected: String = (0..200_000).map(|number| format!("{number}\n")).collect();
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }

    #[test]
    fn who_waits_for_something_else_is_woken_by_it() {
        let (reader, _writer) = io::pipe().unwrap();
        let (other, mut sender) = io::pipe().unwrap();
        sender.write_all(b"x").unwrap();
        let mut gulps = Gulps::of(reader).unwrap();
        let taken = gulps.gulp(&[other.as_fd()], Nanoseconds::from_seconds(600), |_| Ok(())).unwrap();
        assert_eq!(taken, 0);
    }
}
