//! What becomes of runs whose keeper or whose store was lost: recovered, rescued, adopted.

pub(crate) mod adopt;
pub(crate) mod recover;
pub(crate) mod rescue;
