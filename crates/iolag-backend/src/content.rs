//! What objects contain: bytes that do not compress, and that can be told again from the object's key.
//!
//! With [`Verification::Content`] byte `i` of an object is a function of the seed and the key, so that whoever reads it can
//! compare. With [`Verification::Length`] every client writes one buffer of noise over and over: nothing is computed
//! per operation, but that each 4 KiB of a stream's blocks get a number of their own, so that no two are the same to a storage that keeps
//! what is the same only once. A working set that was written in one way cannot be verified in the other.
//!
//! What is to compress has zeros at the end of each 4 KiB.

use iolag_model::{FailureCode, GOLDEN, Operation, Verification, mix};

use crate::paged::{BUFFER_BYTES_MAX, PagedBytes, buffer_bytes};
use crate::{BackendError, Completion, ObjectKey, Request, SessionOptions};

/// Compression works on no less than this.
const PIECE_BYTES: usize = 4096;
const PIECE_WORDS: u64 = PIECE_BYTES as u64 / 8;

/// The bytes of one object: counter mode over SplitMix64's output function, 8 bytes a word.
#[derive(Debug, Clone, Copy)]
struct Pattern {
    base: u64,
    /// Of each piece; the others are zeros.
    noise_words: u64,
}

impl Pattern {
    fn of(seed: u64, key: ObjectKey, noise_words: u64) -> Self {
        let dataset = (u64::from(key.rank) << 32) | u64::from(key.dataset);
        Self { base: mix(mix(mix(seed) ^ dataset).wrapping_add(key.index)), noise_words }
    }

    #[inline]
    fn word(self, index: u64) -> [u8; 8] {
        match index % PIECE_WORDS < self.noise_words {
            true => mix(self.base.wrapping_add(index.wrapping_mul(GOLDEN))).to_le_bytes(),
            false => [0; 8],
        }
    }

    /// Calls `visit` with every piece of `length` bytes from `offset`: its place in the piece, and its bytes.
    #[inline]
    fn visit(self, offset: u64, length: usize, mut visit: impl FnMut(usize, &[u8]) -> bool) -> bool {
        let mut index = offset / 8;
        let mut done = 0;
        let mut skipped = (offset % 8) as usize;
        while done < length {
            let word = self.word(index);
            let piece = &word[skipped..8.min(skipped + length - done)];
            if !visit(done, piece) {
                return false;
            }
            done += piece.len();
            index += 1;
            skipped = 0;
        }
        true
    }

    fn fill(self, offset: u64, bytes: &mut [u8]) {
        if offset.is_multiple_of(8) {
            let (words, tail) = bytes.as_chunks_mut::<8>();
            let first = offset / 8;
            for (index, word) in words.iter_mut().enumerate() {
                *word = self.word(first + index as u64);
            }
            let last = self.word(first + words.len() as u64);
            tail.copy_from_slice(&last[..tail.len()]);
        } else {
            let length = bytes.len();
            self.visit(offset, length, |place, piece| {
                bytes[place..place + piece.len()].copy_from_slice(piece);
                true
            });
        }
    }

    fn matches(self, offset: u64, bytes: &[u8]) -> bool {
        if offset.is_multiple_of(8) {
            let (words, tail) = bytes.as_chunks::<8>();
            let first = offset / 8;
            let last = self.word(first + words.len() as u64);
            return words.iter().enumerate().all(|(index, word)| *word == self.word(first + index as u64))
                && *tail == last[..tail.len()];
        }
        self.visit(offset, bytes.len(), |place, piece| bytes[place..place + piece.len()] == *piece)
    }
}

/// A session's buffers. Both are written to when they are made: no page of them is touched for the first time while the
/// clock runs.
#[derive(Debug)]
pub(crate) struct Buffers {
    seed: u64,
    verification: Verification,
    noise_words: u64,
    /// What is written.
    pub(crate) written: PagedBytes,
    /// What was read.
    pub(crate) read: PagedBytes,
}

impl Buffers {
    /// Buffers for objects or blocks of up to `options.bytes_max`.
    ///
    /// # Errors
    /// If content is to be compared of objects that are longer than a buffer may be.
    pub(crate) fn new(options: &SessionOptions) -> Result<Self, BackendError> {
        if options.verification == Verification::Content && options.bytes_max > BUFFER_BYTES_MAX {
            return Err(BackendError::TooLarge { bytes: options.bytes_max, bytes_max: BUFFER_BYTES_MAX });
        }
        let length = buffer_bytes(options.bytes_max);
        let noise_words = PIECE_WORDS * u64::from(100_u32.saturating_sub(options.compressible_percent)) / 100;
        let mut written = PagedBytes::noise(options.seed, options.client, length);
        for piece in written.chunks_mut(PIECE_BYTES) {
            piece.iter_mut().skip(noise_words as usize * 8).for_each(|byte| *byte = 0);
        }
        Ok(Self {
            seed: options.seed,
            verification: options.verification,
            noise_words,
            written,
            read: PagedBytes::new(0xff, length),
        })
    }

    /// Makes what will be written. Does nothing with [`Verification::Length`].
    #[inline]
    pub(crate) fn prepare_write(&mut self, key: ObjectKey, offset: u64, bytes: u64) {
        if self.verification == Verification::Content {
            let length = self.grow(bytes);
            Pattern::of(self.seed, key, self.noise_words).fill(offset, &mut self.written[..length]);
        }
    }

    /// Makes a block of a stream. With [`Verification::Length`] only its pieces get numbers of their own.
    pub(crate) fn prepare_block(&mut self, key: ObjectKey, offset: u64, bytes: u64) {
        self.prepare_write(key, offset, bytes);
        if self.verification == Verification::Length && self.noise_words > 0 {
            let length = self.written.len().min(bytes as usize);
            let numbers = Pattern::of(self.seed, key, PIECE_WORDS);
            for (place, piece) in
                (offset..).step_by(PIECE_BYTES).zip(self.written[..length].chunks_exact_mut(PIECE_BYTES))
            {
                piece[..8].copy_from_slice(&numbers.word(place));
            }
        }
    }

    /// Makes room for what will be compared. Does nothing with [`Verification::Length`].
    #[inline]
    pub(crate) fn prepare_read(&mut self, bytes: u64) {
        if self.verification == Verification::Content && bytes != Request::TO_THE_END {
            self.grow(bytes);
        }
    }

    /// Whether content is compared.
    #[inline]
    pub(crate) fn are_compared(&self) -> bool {
        self.verification == Verification::Content
    }

    /// What a request came to, which is no success if what was read, or the size that was told, is not as it was written.
    #[inline]
    pub(crate) fn inspect(&self, request: &Request, completion: Completion, size_bytes: u64) -> Completion {
        if !self.are_compared() || !completion.is_ok() || request.bytes == Request::TO_THE_END {
            return completion;
        }
        let is_as_written = match request.operation {
            Operation::Read | Operation::CallRead => self.is_as_written(request.key, 0, request.bytes),
            Operation::StreamRead | Operation::StreamRandomRead => {
                self.is_as_written(request.key, request.offset, request.bytes)
            }
            Operation::Stat | Operation::CallStat => size_bytes == request.bytes,
            _ => true,
        };
        if is_as_written { completion } else { Completion { code: FailureCode::MISMATCH, ..completion } }
    }

    /// Whether the first `bytes` that were read are what the object has at `offset`; of what is not compared it is taken to be so.
    pub(crate) fn are_as_written(&self, key: ObjectKey, offset: u64, bytes: u64) -> bool {
        !self.are_compared() || self.is_as_written(key, offset, bytes)
    }

    /// Whether the first `bytes` that were read are what the object has at `offset`.
    fn is_as_written(&self, key: ObjectKey, offset: u64, bytes: u64) -> bool {
        let pattern = Pattern::of(self.seed, key, self.noise_words);
        self.read.get(..bytes as usize).is_some_and(|read| pattern.matches(offset, read))
    }

    /// A request longer than the session was opened for, or than [`BUFFER_BYTES_MAX`], is cut off here and then found
    /// to be different when it is compared.
    fn grow(&mut self, bytes: u64) -> usize {
        let length = bytes.min(BUFFER_BYTES_MAX) as usize;
        if length > self.written.len() {
            self.written = PagedBytes::new(0xff, length);
            self.read = PagedBytes::new(0xff, length);
        }
        length
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEY: ObjectKey = ObjectKey { rank: 3, dataset: 1, index: 77 };
    /// Of 512; so short that the cases below reach the zeros.
    const NOISE: u64 = 10;

    fn buffers(verification: Verification, compressible_percent: u32) -> Buffers {
        let options = SessionOptions::new(iolag_model::ClientId(0), 0, 9, 64 << 10);
        Buffers::new(&SessionOptions { verification, compressible_percent, ..options }).unwrap()
    }

    #[test]
    fn as_many_percent_of_each_piece_are_zeros_as_are_to_compress() {
        for verification in [Verification::Length, Verification::Content] {
            for (percent, zeros) in [(0, 0), (25, 1024), (50, 2048), (100, 4096)] {
                let mut buffers = buffers(verification, percent);
                buffers.prepare_block(KEY, 8192, 64 << 10);
                for piece in buffers.written.chunks(PIECE_BYTES) {
                    let at_the_end = piece.iter().rev().take_while(|byte| **byte == 0).count();
                    // A byte of noise is zero now and then.
                    assert!((zeros..zeros + 4).contains(&at_the_end), "{percent} %: {at_the_end}");
                }
            }
        }
    }

    #[test]
    fn no_two_pieces_of_a_stream_are_the_same() {
        let mut seen = std::collections::HashSet::new();
        let mut buffers = buffers(Verification::Length, 0);
        for block in 0..8 {
            for key in [KEY, ObjectKey { rank: 1, ..KEY }] {
                buffers.prepare_block(key, block * (64 << 10), 64 << 10);
                seen.extend(buffers.written.chunks(PIECE_BYTES).map(<[u8]>::to_vec));
            }
        }
        assert_eq!(seen.len(), 8 * 2 * 16);
    }

    #[test]
    fn different_objects_differ_and_equal_ones_are_equal() {
        let fill = |seed, key| {
            let mut bytes = [0; 32];
            Pattern::of(seed, key, PIECE_WORDS).fill(0, &mut bytes);
            bytes
        };
        let bytes = fill(1, KEY);
        assert_eq!(bytes, fill(1, KEY));
        assert_ne!(bytes, fill(2, KEY));
        for other in [
            ObjectKey { rank: 4, ..KEY },
            ObjectKey { dataset: 2, ..KEY },
            ObjectKey { index: 78, ..KEY },
            ObjectKey { rank: 1, dataset: 3, index: 77 },
        ] {
            assert_ne!(bytes, fill(1, other), "{other:?}");
        }
    }

    proptest! {
        #[test]
        fn a_piece_is_the_same_as_that_piece_of_the_whole(offset in 0_usize..100, length in 0_usize..100) {
            let pattern = Pattern::of(9, KEY, NOISE);
            let mut whole = [0; 200];
            pattern.fill(0, &mut whole);
            let mut piece = vec![0; length];
            pattern.fill(offset as u64, &mut piece);
            prop_assert_eq!(&piece[..], &whole[offset..offset + length]);
            prop_assert!(pattern.matches(offset as u64, &piece));
        }

        #[test]
        fn one_changed_bit_is_seen(length in 1_usize..300, place in any::<prop::sample::Index>(), bit in 0_u32..8) {
            let pattern = Pattern::of(9, KEY, NOISE);
            let mut bytes = vec![0; length];
            pattern.fill(3, &mut bytes);
            bytes[place.index(length)] ^= 1 << bit;
            prop_assert!(!pattern.matches(3, &bytes));
        }
    }
}
