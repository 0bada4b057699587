//! From a trace to what can be asked again: each task with its calls, in its order, and what it waits for.
//!
//! A call is repeated if its path lies below a directory that is mapped, if it changes nothing, or may change files of the copy's own, and if the trace tells enough of it. What
//! is not is counted by reason. Calls on /dev, /proc and /sys are no calls on storage and count in neither, as everywhere else in this crate.
//!
//! Limits: paths are absolute, as the trace has them, so that a look-up relative to a directory of the program walks down from the directory that is mapped, unless it
//! was relative to a descriptor. Pages of mapped files, attributes by name, and what goes through pipes and sockets are not repeated.

mod bones;
mod change;
mod changing;
mod descriptors;
mod mapping;
mod ordering;
mod own;
mod place;
mod repeater;
mod repetition;
mod skeleton;
mod translating;
mod whereabouts;

pub use bones::{Bone, BoneKind};
pub use change::{Attribute, Change};
pub use mapping::{Scope, ScopeError};
pub use own::{Changes, Own};
pub use place::{At, Following, Name, Place, PlaceId};
pub use repeater::Repeater;
pub use repetition::{After, Ask, Item, OwnFiles, Repetition, TaskItems};
pub use skeleton::Skeleton;
pub use whereabouts::Whereabouts;
