//! What kinds of servers have in common: the names of objects, and a working place that is known by a marker.

#[cfg(any(feature = "http", feature = "postgres"))]
mod driven;
mod keys;
mod marked;
mod server_tag;
mod settings;
#[cfg(any(feature = "http", feature = "postgres"))]
mod timed;
mod waiting;

#[cfg(any(feature = "http", feature = "postgres"))]
pub(crate) use driven::Driven;
#[cfg(any(feature = "http", feature = "mongodb"))]
pub(crate) use keys::object_name;
pub(crate) use keys::{dataset_name, key_of, refuse_odd};
pub(crate) use marked::{Claims, Expected, MarkedPlace, create_place, has_place, removal_of, reopen_place};
pub(crate) use server_tag::ServerTag;
#[cfg(any(feature = "http", feature = "mongodb"))]
pub(crate) use settings::decoded;
#[cfg(any(feature = "http", feature = "postgres"))]
pub(crate) use settings::encoded;
pub(crate) use settings::settings_of;
#[cfg(any(feature = "http", feature = "postgres"))]
pub(crate) use timed::{FirstByte, Timed};
pub(crate) use waiting::wait_for;
