//! Which path is asked for, and where.

use serde::{Deserialize, Serialize};

/// A path, by its place in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PlaceId(pub u32);

/// What becomes of a link that a path ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Following {
    /// It is followed.
    Follows,
    /// It is what is asked for.
    Not,
}

impl Following {
    /// It is followed, unless this flag is set.
    pub(super) const fn unless(flag: u32) -> Self {
        if flag == 0 { Self::Follows } else { Self::Not }
    }
}

/// A path below a directory that is mapped.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Which map.
    pub map: u16,
    /// Below it; `.` is the directory itself.
    #[serde(with = "bytes_as_text")]
    pub path: Vec<u8>,
}

/// A name that is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Name {
    /// The path.
    pub place: PlaceId,
    /// Where it is looked up.
    pub at: At,
}

/// Where a name is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum At {
    /// From the directory that is mapped.
    Map,
    /// From this descriptor, of whose path so many bytes are left out.
    Descriptor(u32, u32),
}

/// Paths are bytes; in messages they are texts of as many letters.
pub(super) mod bytes_as_text {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(in crate::replay) fn serialize<S: Serializer>(
        bytes: &[u8],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&bytes.iter().copied().map(char::from).collect::<String>())
    }

    pub(in crate::replay) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let byte =
            |letter| u8::try_from(letter).map_err(|_| serde::de::Error::custom("a letter that is no byte"));
        text.chars().map(byte).collect()
    }
}
