//! Numbers, moments and names as people read them: the same words in every form.

pub(crate) mod comparison;
pub(crate) mod copies;
pub(crate) mod estimates;
pub(crate) mod history;
pub(crate) mod interval;
pub(crate) mod jobs;
pub(crate) mod markdown;
pub(crate) mod names;
pub(crate) mod numbers;
pub(crate) mod payload;
pub(crate) mod percent;
pub(crate) mod profile;
pub(crate) mod server;
pub(crate) mod setting;
pub(crate) mod trouble;
