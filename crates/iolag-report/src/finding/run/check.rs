//! What is found in one directory of a check, in words.

use std::borrow::Cow;

use iolag_analysis::{
    CloseSlow, CreateSlow, DurableSlow, FewButLong, MeasuredInPart, NamesLookedUp, NotAnswering, NotEnded,
    QuantileValue, RemoveSlow, Silent, SlowerOperation, Unsteady, duration_in_words, factor_in_words,
};
use iolag_model::{Nanoseconds, Operation};

use crate::finding::in_words::{About, Evidence, EvidenceAmount, InWords};

impl InWords for NotAnswering {
    fn sentence(&self, _about: &About<'_>) -> String {
        let age = self.age_ns;
        let who = match self.who {
            Silent::Directory => "directory",
            Silent::Server => "server",
        };
        format!("The {who} does not answer: the first contact has been waiting for {age}.")
    }

    fn advice(&self) -> Cow<'static, str> {
        match self.who {
            Silent::Directory => {
                "Ask on the server side; on this host see `dmesg` and /proc/mounts. Programs that touch this mount \
                 will hang too."
            }
            Silent::Server => {
                "Ask on the server side, and look for a firewall on the way that drops what it does not let pass."
            }
        }
        .into()
    }

    fn evidence(&self) -> Vec<Evidence> {
        vec![Evidence::duration("age", self.age_ns)]
    }
}

impl InWords for MeasuredInPart {
    fn sentence(&self, _about: &About<'_>) -> String {
        format!("Not everything could be measured: {}.", self.failure)
    }

    fn advice(&self) -> Cow<'static, str> {
        "Repeat the measurement when the cause is gone.".into()
    }
}

impl InWords for NotEnded {
    fn sentence(&self, _about: &About<'_>) -> String {
        let Self { operation, count, of, longest_ns } = self;
        format!("{count} of {of} `{operation}` did not end; the longest had been waiting for {longest_ns}.")
    }

    fn advice(&self) -> Cow<'static, str> {
        "They count as \"at least\" this long. `iolag export` has each with its moment: ask on the server side, or see \
         `dmesg`, what happened then."
            .into()
    }

    fn evidence(&self) -> Vec<Evidence> {
        vec![Evidence::duration("longest age", self.longest_ns)]
    }
}

impl InWords for FewButLong {
    fn sentence(&self, _about: &About<'_>) -> String {
        let row = |(operation, count, longest): &(Operation, u64, QuantileValue)| {
            let longest = duration_in_words(*longest);
            match count {
                1 => format!("the one `{operation}` took {longest}"),
                count => format!("the longest of {count} `{operation}` took {longest}"),
            }
        };
        format!("Few attempts, but long: {}.", self.rows.iter().map(row).collect::<Vec<_>>().join(", "))
    }

    fn advice(&self) -> Cow<'static, str> {
        "Give it more time (`--budget`), or watch it (`iolag watch`): so few attempts may be an accident."
            .into()
    }
}

/// The median of the slower one, or its bound.
fn longer(pair: &SlowerOperation) -> Nanoseconds {
    pair.slow.1.lower_bound().unwrap_or_default()
}

fn medians(pair: &SlowerOperation) -> Vec<Evidence> {
    [pair.slow, pair.quick].map(|median| Evidence::of_operation("median of", median)).into()
}

impl InWords for NamesLookedUp {
    fn sentence(&self, _about: &About<'_>) -> String {
        format!(
            "`ls -l` is {} times slower than `ls -n`: looking up the names of users and groups takes the difference.",
            factor_in_words(self.0.factor)
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        "Enable a cache of the name service on this host (nscd, or sssd with caching) and check that its \
         server answers quickly (`time getent passwd $USER`)."
            .into()
    }

    fn evidence(&self) -> Vec<Evidence> {
        medians(&self.0)
    }
}

impl InWords for DurableSlow {
    fn sentence(&self, _about: &About<'_>) -> String {
        format!(
            "Until a small file is safe takes {} (`write+fsync`), {} times as long as creating one.",
            longer(&self.0),
            factor_in_words(self.0.factor)
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        "Databases, editors and package managers wait for this. A device or server with a protected write \
         cache would shorten it."
            .into()
    }

    fn evidence(&self) -> Vec<Evidence> {
        medians(&self.0)
    }
}

impl InWords for CloseSlow {
    fn sentence(&self, _about: &About<'_>) -> String {
        format!(
            "Closing a written file takes {}, {} times its write, as where data are sent to a server when a file is closed.",
            longer(&self.0),
            factor_in_words(self.0.factor)
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        "NFS does that for close-to-open consistency. Each small file pays it: put scratch and build directories \
         on local storage, or pack small files."
            .into()
    }

    fn evidence(&self) -> Vec<Evidence> {
        medians(&self.0)
    }
}

impl InWords for CreateSlow {
    fn sentence(&self, _about: &About<'_>) -> String {
        format!(
            "Creating a small file takes {}, {} times as long as asking for one's attributes.",
            longer(&self.0),
            factor_in_words(self.0.factor)
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        "Unpacking archives and building software will feel slow although browsing feels fast, as where attributes come \
         from a cache and only creations go to a server."
            .into()
    }

    fn evidence(&self) -> Vec<Evidence> {
        medians(&self.0)
    }
}

impl InWords for RemoveSlow {
    fn sentence(&self, _about: &About<'_>) -> String {
        format!(
            "Removing a small file takes {}, {} times as long as creating one.",
            longer(&self.0),
            factor_in_words(self.0.factor)
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        "Cleaning up after builds and jobs takes longer than they took to write. A file system mounted with `discard` \
         tells the device about every removed file at once: if it is (see /proc/mounts), a regular fstrim does that \
         more cheaply."
            .into()
    }

    fn evidence(&self) -> Vec<Evidence> {
        medians(&self.0)
    }
}

impl InWords for Unsteady {
    fn sentence(&self, _about: &About<'_>) -> String {
        let (word, factor) =
            if self.is_slower { ("slower", self.factor) } else { ("faster", 1.0 / self.factor) };
        let with_memory = if self.is_shared_by_memory { ", and so did the machine's memory" } else { "" };
        format!(
            "It got {word} while it was measured{with_memory}: by a factor of {} from the first quarter to the last (all {} \
             operations together).",
            factor_in_words(factor),
            self.operations
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        match self.is_shared_by_memory {
            true => "Something else on this machine began or ended: repeat the measurement when it is quiet.",
            false => {
                "Something changed in the storage or its load: repeat the measurement, or watch it (`iolag watch`)."
            }
        }
        .into()
    }

    fn evidence(&self) -> Vec<Evidence> {
        let Self { factor, p, .. } = *self;
        vec![
            Evidence::new("last quarter by first", factor_in_words(factor), EvidenceAmount::Factor(factor)),
            Evidence::new("probability without a change", format!("{p:.4}"), EvidenceAmount::Probability(p)),
        ]
    }
}
