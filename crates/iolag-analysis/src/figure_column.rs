//! Long rows of numbers: kept as typed vectors, so that a report can carry them as bytes instead of text.
//!
//! In plain JSON a column is an array of numbers. [`detach`](crate::run::figure::Figures::detach_columns) takes the numbers
//! out, leaves an empty array behind, and names the place by a JSON pointer (RFC 6901).

use serde::{Deserialize, Serialize};

/// Type of a column's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum ColumnKind {
    /// Unsigned, 1 byte.
    U8,
    /// Unsigned, 2 bytes.
    U16,
    /// Unsigned, 4 bytes.
    U32,
    /// IEEE 754, 4 bytes.
    F32,
}

/// A column that was taken out of its figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetachedColumn {
    /// Where it belongs: a JSON pointer into the serialised figures.
    pub pointer: String,
    /// Type of its numbers.
    pub kind: ColumnKind,
    /// How many numbers.
    pub length: usize,
    /// The numbers, little endian.
    pub bytes_le: Vec<u8>,
}

/// Something that holds columns.
pub(crate) trait Detach {
    /// Moves every column that is not empty to `columns`; `pointer` is the place of `self`.
    fn detach(&mut self, pointer: &str, columns: &mut Vec<DetachedColumn>);
}

impl<T: Detach> Detach for Vec<T> {
    fn detach(&mut self, pointer: &str, columns: &mut Vec<DetachedColumn>) {
        for (index, item) in self.iter_mut().enumerate() {
            item.detach(&format!("{pointer}/{index}"), columns);
        }
    }
}

impl<T: Detach> Detach for Option<T> {
    fn detach(&mut self, pointer: &str, columns: &mut Vec<DetachedColumn>) {
        if let Some(item) = self {
            item.detach(pointer, columns);
        }
    }
}

/// Implements [`Detach`] for a structure by the names of its fields that hold columns.
macro_rules! detach {
    ($type:ty { $($field:ident),* $(,)? }) => {
        impl $crate::figure_column::Detach for $type {
            fn detach(&mut self, pointer: &str, columns: &mut Vec<$crate::run::figure::DetachedColumn>) {
                $($crate::figure_column::Detach::detach(
                    &mut self.$field,
                    &format!("{pointer}/{}", stringify!($field)),
                    columns,
                );)*
            }
        }
    };
}
pub(crate) use detach;

macro_rules! columns {
    ($($(#[doc = $doc:literal])* $name:ident, $number:ty, $kind:ident, $array:literal;)*) => { $(
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = $array))]
        #[serde(transparent)]
        pub struct $name(pub Vec<$number>);

        impl $name {
            /// The numbers, little endian.
            pub fn bytes_le(&self) -> Vec<u8> {
                let mut bytes = Vec::with_capacity(self.0.len() * size_of::<$number>());
                for number in &self.0 {
                    bytes.extend_from_slice(&number.to_le_bytes());
                }
                bytes
            }
        }

        impl Detach for $name {
            fn detach(&mut self, pointer: &str, columns: &mut Vec<DetachedColumn>) {
                if self.0.is_empty() {
                    return;
                }
                columns.push(DetachedColumn {
                    pointer: pointer.to_owned(),
                    kind: ColumnKind::$kind,
                    length: self.0.len(),
                    bytes_le: self.bytes_le(),
                });
                self.0 = Vec::new();
            }
        }

        impl FromIterator<$number> for $name {
            fn from_iter<I: IntoIterator<Item = $number>>(numbers: I) -> Self {
                Self(numbers.into_iter().collect())
            }
        }
    )* };
}

columns! {
    /// Numbers of 1 byte.
    Column8, u8, U8, "Uint8Array";
    /// Numbers of 2 bytes.
    Column16, u16, U16, "Uint16Array";
    /// Numbers of 4 bytes.
    Column32, u32, U32, "Uint32Array";
    /// Numbers with a fraction, 24 significant bits; never infinite, never "not a number".
    ColumnFloat, f32, F32, "Float32Array";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detached_column_leaves_an_empty_array_and_its_bytes() {
        let mut holder = vec![Column16(vec![1, 0x0203]), Column16::default()];
        let mut columns = Vec::new();
        holder.detach("/a", &mut columns);
        assert_eq!(holder, vec![Column16::default(); 2]);
        let expected = DetachedColumn {
            pointer: "/a/0".to_owned(),
            kind: ColumnKind::U16,
            length: 2,
            bytes_le: vec![1, 0, 3, 2],
        };
        assert_eq!(columns, [expected]);
    }
}
