//! Estimates, and between which ends the truth lies.

pub(crate) mod agreement;
pub(crate) mod estimate;
pub(crate) mod mean_error;
pub(crate) mod ranks_and_shares;
pub(crate) mod share_over;
