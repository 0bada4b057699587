//! Dictionary encoding of columns with few values: dictionary page, then one page of indices in Parquet's hybrid of
//! runs and bit packing.
//!
//! ```text
//! indices page:  bit width (1 byte), then runs:
//!   repeated:    varint(length << 1), the index in ceil(width / 8) bytes
//!   packed:      varint(groups << 1 | 1), groups of 8 indices, least significant bit first
//! ```

use std::collections::HashMap;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, PageType, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, PageEncodingStats};
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use zstd::bulk::Compressor;

/// Of all columns.
pub(super) const ZSTD_LEVEL: i32 = 1;
/// Above so many different values a dictionary is no gain.
const DISTINCT_MAX: usize = 1 << 16;
const TABLE_KEYS: usize = 1 << 16;
/// A run shorter than this is packed: its header would cost more.
const RUN_MIN: usize = 16;

/// Turns the keys of a column into indices; its tables are reused for every row group.
pub(super) struct Codes {
    /// Index + 1 of every small key; 0 for a key not seen.
    table: Vec<u32>,
    large: HashMap<u64, u32>,
    /// The keys in the order of their indices.
    distinct: Vec<u64>,
    indices: Vec<u16>,
    is_refused: bool,
}

/// The values that the distinct keys stand for.
pub(super) enum Dictionary<'a> {
    Text(Vec<&'a str>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
}

/// An encoded column chunk, to be appended to a row group.
pub(super) struct Chunk {
    pub bytes: Bytes,
    pub close: ColumnCloseResult,
}

impl Default for Codes {
    fn default() -> Self {
        Self {
            table: vec![0; TABLE_KEYS],
            large: HashMap::new(),
            distinct: Vec::new(),
            indices: Vec::new(),
            is_refused: false,
        }
    }
}

impl Codes {
    /// Forgets all keys.
    pub fn clear(&mut self) {
        for key in self.distinct.drain(..) {
            if let Some(entry) = self.table.get_mut(key as usize) {
                *entry = 0;
            }
        }
        self.large.clear();
        self.indices.clear();
        self.is_refused = false;
    }

    /// Gives each of these keys an index, after those before; none, once there are too many different ones.
    pub fn extend(&mut self, mut keys: impl Iterator<Item = u64>) {
        let Some(mut key) = keys.next().filter(|_| !self.is_refused) else { return };
        let mut run = 1;
        // Most columns have long runs of one key: it is looked up once for all of them.
        for next in keys {
            if next == key {
                run += 1;
            } else {
                self.push(key, run);
                (key, run) = (next, 1);
            }
        }
        self.push(key, run);
    }

    /// Whether there were too many different keys: then there is no chunk of them.
    pub const fn is_refused(&self) -> bool {
        self.is_refused
    }

    fn push(&mut self, key: u64, run: usize) {
        let entry = match self.table.get_mut(key as usize) {
            Some(entry) => entry,
            None => self.large.entry(key).or_insert(0),
        };
        if *entry == 0 {
            self.is_refused |= self.distinct.len() == DISTINCT_MAX;
            if self.is_refused {
                return;
            }
            self.distinct.push(key);
            *entry = self.distinct.len() as u32;
        }
        self.indices.resize(self.indices.len() + run, (*entry - 1) as u16);
    }

    /// The keys as numbers of 32 bits.
    pub fn numbers(&self) -> Dictionary<'static> {
        Dictionary::Int32(self.distinct.iter().map(|key| *key as i32).collect())
    }

    /// The keys as numbers of 64 bits.
    pub fn wide_numbers(&self) -> Dictionary<'static> {
        Dictionary::Int64(self.distinct.iter().map(|key| *key as i64).collect())
    }

    /// What the keys are called.
    pub fn texts<'a>(&self, name: impl Fn(u64) -> &'a str) -> Dictionary<'a> {
        Dictionary::Text(self.distinct.iter().map(|key| name(*key)).collect())
    }

    /// The column chunk of the collected keys, each standing for the value of the same place in `dictionary`.
    pub fn chunk(
        &self,
        column: ColumnDescPtr,
        dictionary: &Dictionary<'_>,
        compressor: &mut Compressor<'_>,
    ) -> Result<Chunk, ParquetError> {
        let bits = usize::BITS - (self.distinct.len().max(1) - 1).leading_zeros();
        let indices = pack(&self.indices, bits);
        let mut sink = TrackedWrite::new(Vec::new());
        let mut pages = SerializedPageWriter::new(&mut sink);
        let values = dictionary.plain();
        let entries = self.distinct.len() as u32;
        let first = pages.write_page(compress(compressor, &values, |buf| Page::DictionaryPage {
            buf,
            num_values: entries,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        })?)?;
        let second = pages.write_page(compress(compressor, &indices, |buf| Page::DataPage {
            buf,
            num_values: self.indices.len() as u32,
            encoding: Encoding::RLE_DICTIONARY,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        })?)?;
        let metadata = ColumnChunkMetaData::builder(column)
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
            .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY])
            .set_page_encoding_stats(vec![
                PageEncodingStats {
                    page_type: PageType::DICTIONARY_PAGE,
                    encoding: Encoding::PLAIN,
                    count: 1,
                },
                PageEncodingStats {
                    page_type: PageType::DATA_PAGE,
                    encoding: Encoding::RLE_DICTIONARY,
                    count: 1,
                },
            ])
            .set_num_values(self.indices.len() as i64)
            .set_total_compressed_size((first.compressed_size + second.compressed_size) as i64)
            .set_total_uncompressed_size((first.uncompressed_size + second.uncompressed_size) as i64)
            .set_dictionary_page_offset(Some(first.offset as i64))
            .set_data_page_offset(second.offset as i64)
            .set_statistics(dictionary.statistics())
            .build()?;
        let bytes = sink.into_inner()?;
        let close = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: self.indices.len() as u64,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok(Chunk { bytes: bytes.into(), close })
    }
}

impl Dictionary<'_> {
    fn plain(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            Self::Text(texts) => {
                for text in texts {
                    bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
                    bytes.extend_from_slice(text.as_bytes());
                }
            }
            Self::Int32(values) => {
                values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()))
            }
            Self::Int64(values) => {
                values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()))
            }
        }
        bytes
    }

    /// Every entry of the dictionary occurs, so its extremes are those of the column.
    fn statistics(&self) -> Statistics {
        match self {
            Self::Text(texts) => {
                let bytes = |text: &&str| parquet::data_type::ByteArray::from(*text);
                let (least, greatest) = (texts.iter().min(), texts.iter().max());
                Statistics::byte_array(least.map(bytes), greatest.map(bytes), None, Some(0), false)
            }
            Self::Int32(values) => {
                let (least, greatest) = (values.iter().min(), values.iter().max());
                Statistics::int32(least.copied(), greatest.copied(), None, Some(0), false)
            }
            Self::Int64(values) => {
                let (least, greatest) = (values.iter().min(), values.iter().max());
                Statistics::int64(least.copied(), greatest.copied(), None, Some(0), false)
            }
        }
    }
}

fn compress(
    compressor: &mut Compressor<'_>,
    bytes: &[u8],
    page: impl FnOnce(Bytes) -> Page,
) -> Result<CompressedPage, ParquetError> {
    let compressed = compressor.compress(bytes).map_err(|error| ParquetError::External(Box::new(error)))?;
    Ok(CompressedPage::new(page(compressed.into()), bytes.len()))
}

/// Indices of `bits` bits each as Parquet's hybrid, bit width first.
fn pack(indices: &[u16], bits: u32) -> Vec<u8> {
    let mut bytes = vec![bits as u8];
    let mut packed_from = 0;
    let mut at = 0;
    while at < indices.len() {
        let value = indices[at];
        let run = indices[at..].iter().take_while(|other| **other == value).count();
        // What is packed must be a multiple of 8 values, unless it is the last: the run lends the missing ones.
        let lent = (at - packed_from).wrapping_neg() % 8;
        if run >= RUN_MIN + lent {
            push_packed(&mut bytes, &indices[packed_from..at + lent], bits);
            push_varint(&mut bytes, (run - lent) << 1);
            bytes.extend_from_slice(&value.to_le_bytes()[..bits.div_ceil(8) as usize]);
            packed_from = at + run;
        }
        at += run;
    }
    push_packed(&mut bytes, &indices[packed_from..], bits);
    bytes
}

fn push_packed(bytes: &mut Vec<u8>, indices: &[u16], bits: u32) {
    if indices.is_empty() {
        return;
    }
    push_varint(bytes, indices.len().div_ceil(8) << 1 | 1);
    for group in indices.chunks(8) {
        let mut word = 0_u128;
        for (place, index) in group.iter().enumerate() {
            word |= u128::from(*index) << (place as u32 * bits);
        }
        bytes.extend_from_slice(&word.to_le_bytes()[..bits as usize]);
    }
}

fn push_varint(bytes: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An independent reading of the format.
    fn unpack(bytes: &[u8], count: usize) -> Vec<u16> {
        let bits = usize::from(bytes[0]);
        let (mut at, mut indices) = (1, Vec::new());
        while indices.len() < count {
            let (mut header, mut shift) = (0_usize, 0);
            loop {
                header |= usize::from(bytes[at] & 0x7f) << shift;
                shift += 7;
                at += 1;
                if bytes[at - 1] < 0x80 {
                    break;
                }
            }
            if header & 1 == 0 {
                let value = bytes[at..at + bits.div_ceil(8)]
                    .iter()
                    .rev()
                    .fold(0, |word, byte| word << 8 | u16::from(*byte));
                indices.extend(std::iter::repeat_n(value, header >> 1));
                at += bits.div_ceil(8);
            } else {
                for place in 0..(header >> 1) * 8 {
                    let bit = |bit: usize| u16::from(bytes[at + bit / 8] >> (bit % 8) & 1);
                    indices
                        .push((0..bits).fold(0, |word, number| word | bit(place * bits + number) << number));
                }
                at += (header >> 1) * bits;
            }
        }
        assert_eq!(at, bytes.len());
        indices.truncate(count);
        indices
    }

    proptest! {
        #[test]
        fn packed_indices_lead_back(runs in prop::collection::vec((0_u16..5000, 1_usize..60), 0..60), bits in 13_u32..=16) {
            let indices: Vec<u16> = runs.iter().flat_map(|(value, length)| vec![*value; *length]).collect();
            prop_assert_eq!(unpack(&pack(&indices, bits), indices.len()), indices);
        }

        #[test]
        fn keys_get_their_own_index(keys in prop::collection::vec(prop_oneof![0_u64..10, any::<u64>()], 0..200)) {
            let mut codes = Codes::default();
            for _ in 0..2 {
                codes.clear();
                keys.chunks(7).for_each(|keys| codes.extend(keys.iter().copied()));
                prop_assert!(!codes.is_refused());
                let back: Vec<u64> = codes.indices.iter().map(|index| codes.distinct[usize::from(*index)]).collect();
                prop_assert_eq!(&back, &keys);
            }
        }
    }

    #[test]
    fn too_many_different_keys_are_refused_and_one_key_takes_no_bits() {
        let mut codes = Codes::default();
        codes.extend(0..=1 << 16);
        assert!(codes.is_refused());
        codes.clear();
        codes.extend(0..1 << 16);
        assert!(!codes.is_refused());
        assert_eq!(pack(&[0; 1000], 0).len(), 3);
    }
}
