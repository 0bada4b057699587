//! What only failed because of something else, in words.

use iolag_analysis::{FollowedFailure, joined};
use iolag_model::format_count;

/// As in ``3 `stat` (not found) and 5 `delete` (not found) failed``.
pub(super) fn failed_in_words(failures: &[FollowedFailure]) -> String {
    let one = |FollowedFailure { operation, class, count }: &FollowedFailure| {
        format!("{} `{operation}` ({class})", format_count(*count))
    };
    format!("{} failed", joined(failures.iter().map(one).collect()))
}
