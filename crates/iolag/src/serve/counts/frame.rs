//! What the follower tells the server, and how it crosses the pipe: the length in four bytes, then JSON.

use std::io::{self, Write};

use iolag_analysis::history::Tallies;
use iolag_model::{Event, Outage, Rename};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Longer is no message of ours: some ten thousand series fit.
const FRAME_BYTES_MAX: usize = 256 << 20;

/// What is read of a history.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::serve) struct Reading {
    /// How far the history was read: the mark of the last change that is counted.
    pub mark: i64,
    /// The names that targets had got by then; with others the counts begin anew.
    #[serde(default)]
    pub renames: Vec<Rename>,
    /// The counts up to there.
    pub tallies: Tallies,
    /// Outages that last, or were over not long ago, by begin.
    pub outages: Vec<Outage>,
    /// Events of late, by begin.
    pub events: Vec<Event>,
}

/// From the follower to the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::serve) enum FromFollower {
    /// The history answers; there is nothing new.
    Alive,
    /// Everything that there is, is read.
    Read(Box<Reading>),
    /// It cannot be read, and why.
    Trouble(String),
}

/// Writes a message.
///
/// # Errors
/// If nobody listens any more.
pub(in crate::serve) fn write(message: &FromFollower, into: &mut impl Write) -> io::Result<()> {
    let text = serde_json::to_vec(message)?;
    let length = u32::try_from(text.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    into.write_all(&length.to_le_bytes())?;
    into.write_all(&text)?;
    into.flush()
}

/// Reads a message; `None` at the end.
///
/// # Errors
/// If it is cut off or is none.
pub(in crate::serve) async fn read(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<FromFollower>> {
    let mut length = [0_u8; 4];
    match from.read_exact(&mut length).await {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    };
    let length = u32::from_le_bytes(length) as usize;
    if length > FRAME_BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut text = vec![0; length];
    from.read_exact(&mut text).await?;
    Ok(Some(serde_json::from_slice(&text)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_now(bytes: &[u8]) -> io::Result<Option<FromFollower>> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(read(&mut &bytes[..]))
    }

    #[test]
    fn messages_come_back() {
        for message in [
            FromFollower::Alive,
            FromFollower::Trouble("no history".into()),
            FromFollower::Read(Box::new(Reading { mark: 7, ..Reading::default() })),
        ] {
            let mut bytes = Vec::new();
            write(&message, &mut bytes).unwrap();
            assert_eq!(read_now(&bytes).unwrap(), Some(message));
            assert!(read_now(&bytes[..bytes.len() - 1]).is_err());
        }
        assert_eq!(read_now(&[]).unwrap(), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = read_now(&bytes);
        }
    }
}
