//! What the user can type of `iolag bench stream`.

use clap::Args;
use iolag_conduct::{CopyTo, FileSize};
use iolag_model::{
    Allocation, CopyWith, Nanoseconds, Phase, StreamEngine, StreamFsync, StreamIo, StreamSpec, Verification,
    parse_bytes, parse_count,
};

use crate::args::bench::{BenchArguments, BenchPlaces};
use crate::args::values::parse_period;
use crate::args::values::stream::{
    parse_copy_to, parse_copy_with, parse_engine, parse_file_size, parse_fsync, parse_io, parse_percent,
    parse_stream_phase,
};

/// Small, since we are guests.
const FILE_BYTES: u64 = 1 << 30;

/// `iolag bench stream`.
#[derive(Debug, Args)]
pub struct Stream {
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub places: BenchPlaces,
    /// Size of a block; several sizes make a sweep
    #[arg(short = 'b', long, value_name = "SIZE,…", default_value = "1MiB", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse_bytes)]
    pub block: Vec<u64>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub blocks: StreamBlocks,
    /// With several targets, where the phase copy copies to: all (each of them in a run of its own) or own (only the file's)
    #[arg(long, value_name = "NAME", default_value = "all", value_parser = parse_copy_to)]
    pub copy_to: CopyTo,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub bench: BenchArguments,
}

/// What each client does, as far as it was said.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub struct StreamBlocks {
    /// What to do with the file, in this order: write, read, rewrite, random-read, random-write, copy [default: write,read]
    #[arg(long, value_name = "PHASE,…", value_delimiter = ',', value_parser = parse_stream_phase)]
    pub phases: Option<Vec<Phase>>,
    /// Size of a client's file, or of all files as a multiple of the memory, as in 2x [default: 1GiB]
    #[arg(short = 's', long, value_name = "SIZE", allow_hyphen_values = true, value_parser = parse_file_size)]
    pub file_size: Option<FileSize>,
    /// How the file is opened: buffered, direct (past the page cache) or dsync (each write durable) [default: buffered]
    #[arg(long, value_name = "NAME", value_parser = parse_io)]
    pub io: Option<StreamIo>,
    /// Who asks the kernel: sync (a system call for each block) or io_uring (a queue) [default: sync]
    #[arg(long, value_name = "NAME", value_parser = parse_engine)]
    pub engine: Option<StreamEngine>,
    /// Blocks in flight at once, of each client [default: 1]
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true, value_parser = parse_count)]
    pub depth: Option<u64>,
    /// When to make durable what was written: end (before closing), after so many blocks, or never [default: end]
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true, value_parser = parse_fsync)]
    pub fsync: Option<StreamFsync>,
    /// Take room for the whole file before it is written (fallocate)
    #[arg(long)]
    pub preallocate: bool,
    /// How much of what is written compresses to nothing [default: 0%]
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, value_parser = parse_percent)]
    pub compressible: Option<u32>,
    /// Compare what was read with what was written, outside the timing
    #[arg(long)]
    pub verify: bool,
    /// End a phase with the first block that ends after so long
    #[arg(short = 'w', long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_period)]
    pub time_limit: Option<Nanoseconds>,
    /// Who copies in the phase copy: loop (read and write each block), copy_file_range (the kernel) or cp (the program) [default: loop]
    #[arg(long, value_name = "NAME", value_parser = parse_copy_with)]
    pub copy_with: Option<CopyWith>,
}

impl StreamBlocks {
    /// What is not said is as usual; the sizes of blocks and of files are set elsewhere.
    pub fn spec(&self) -> StreamSpec {
        let usual = StreamSpec::of_file(FILE_BYTES);
        let copies = self.phases.as_ref().is_some_and(|phases| phases.contains(&Phase::Copy));
        StreamSpec {
            phases: self.phases.clone().unwrap_or(usual.phases),
            io: self.io.unwrap_or(usual.io),
            engine: self.engine.unwrap_or(usual.engine),
            depth: self.depth.map_or(usual.depth, |depth| u32::try_from(depth).unwrap_or(u32::MAX)),
            fsync: self.fsync.unwrap_or(usual.fsync),
            allocation: if self.preallocate { Allocation::Before } else { usual.allocation },
            compressible_percent: self.compressible.unwrap_or(usual.compressible_percent),
            verification: if self.verify { Verification::Content } else { usual.verification },
            time_limit_ns: self.time_limit,
            copy_with: self.copy_with.or(copies.then_some(CopyWith::Loop)),
            file_bytes: usual.file_bytes,
            block_bytes: usual.block_bytes,
        }
    }

    /// How large files are.
    pub fn file_size(&self) -> FileSize {
        self.file_size.unwrap_or(FileSize::Bytes(FILE_BYTES))
    }
}
