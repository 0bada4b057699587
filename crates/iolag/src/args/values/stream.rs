//! Values of streams as they are typed.

use iolag_conduct::{CopyTo, FileSize};
use iolag_model::{CopyWith, Phase, StreamEngine, StreamFsync, StreamIo, parse_bytes, parse_count};

use super::{by_name, parse_share};

by_name!(parse_io, StreamIo, StreamIo::ALL);
by_name!(parse_copy_to, CopyTo, &CopyTo::ALL);
by_name!(parse_copy_with, CopyWith, CopyWith::ALL);
by_name!(parse_engine, StreamEngine, StreamEngine::ALL);
by_name!(
    parse_stream_phase,
    Phase,
    &[Phase::Write, Phase::Read, Phase::Rewrite, Phase::RandomRead, Phase::RandomWrite, Phase::Copy]
);

/// More memories than this no storage has.
const TIMES_MAX: f64 = 1000.0;

/// `20GiB`, or `2x`.
pub(crate) fn parse_file_size(text: &str) -> Result<FileSize, String> {
    let times = text.trim_end().strip_suffix('x').and_then(|number| number.trim_end().parse::<f64>().ok());
    match times {
        Some(times) if times > 0.0 && times <= TIMES_MAX => Ok(FileSize::OfMemory(times)),
        Some(_) => Err(format!("expected a multiple of the memory from 0x to {TIMES_MAX}x, such as 2x")),
        None => match parse_bytes(text) {
            Ok(bytes) => Ok(FileSize::Bytes(bytes)),
            Err(_) => Err(format!("{text:?} is not a size such as 20GiB, or 2x for twice the memory")),
        },
    }
}

/// `end`, `never`, or after how many blocks.
pub(crate) fn parse_fsync(text: &str) -> Result<StreamFsync, String> {
    match text {
        "end" => Ok(StreamFsync::End),
        "never" => Ok(StreamFsync::Never),
        _ => parse_count(text)
            .map(StreamFsync::Every)
            .map_err(|_| "expected end, never, or after how many blocks, such as 100".to_owned()),
    }
}

/// `50%`, whole.
pub(crate) fn parse_percent(text: &str) -> Result<u32, String> {
    const PER_MILLION: u32 = 10_000;
    parse_share(text).map(|share| (share + PER_MILLION / 2) / PER_MILLION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_as_large_as_said_or_as_memories() {
        assert_eq!(parse_file_size("20GiB"), Ok(FileSize::Bytes(20 << 30)));
        assert_eq!(parse_file_size("1.5x"), Ok(FileSize::OfMemory(1.5)));
        for refused in ["0x", "-1x", "1001x", "NaNx"] {
            assert!(parse_file_size(refused).unwrap_err().ends_with("such as 2x"), "{refused}");
        }
        assert_eq!(
            parse_file_size("big").unwrap_err(),
            "\"big\" is not a size such as 20GiB, or 2x for twice the memory"
        );
    }

    #[test]
    fn what_is_made_durable_is_so_at_the_end_or_after_blocks_or_never() {
        assert_eq!(parse_fsync("end"), Ok(StreamFsync::End));
        assert_eq!(parse_fsync("1k"), Ok(StreamFsync::Every(1000)));
        assert!(parse_fsync("sometimes").unwrap_err().starts_with("expected end, never"));
        assert_eq!((parse_percent("33.4%"), parse_percent("100%")), (Ok(33), Ok(100)));
        assert!(parse_percent("101%").is_err());
    }
}
