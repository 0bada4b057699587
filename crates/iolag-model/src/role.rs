//! What a client is there for.

use serde::{Deserialize, Serialize};

/// What a client is there for. Clients meet only those of their own role, so that one that hangs holds up nobody of another. The
/// number stands in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u32)]
pub enum Role {
    /// It makes the load that is measured, and decides when the run is over.
    #[default]
    Load = 0,
    /// It measures what everybody else feels meanwhile.
    Bystander = 1,
    /// It measures what the others are compared with. What only a later iolag knows is read as this: it is no load.
    #[serde(other)]
    Control = 2,
}

impl Role {
    /// Every role, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Load, Self::Bystander, Self::Control];

    /// The role with this number; an unknown number counts as load, which everybody waits for.
    pub const fn from_code(code: u32) -> Self {
        match code {
            1 => Self::Bystander,
            2 => Self::Control,
            _ => Self::Load,
        }
    }

    /// Whether it is the usual one: nothing is said of it in run.json.
    pub fn is_load(&self) -> bool {
        *self == Self::Load
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_later_iolag_knows_is_no_load() {
        let read = |text: &str| serde_json::from_str::<Role>(text).unwrap();
        assert_eq!([r#""load""#, r#""bystander""#, r#""control""#].map(read), Role::ALL);
        assert_eq!(read(r#""observer""#), Role::Control);
    }

    #[test]
    fn numbers_lead_back_and_stand_in_order() {
        for (number, role) in Role::ALL.into_iter().enumerate() {
            assert_eq!((role as usize, Role::from_code(number as u32)), (number, role));
        }
    }
}
