//! First contact: before a watch begins somebody goes to each of its directories and servers.
//!
//! What was typed wrongly is refused then, and where each directory truly lies is known before the first probe. At most one process
//! goes to a mount at a time, as far as it is known which mount that is; one that does not come back is handed to the watch, which
//! sends nobody else there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use iolag_conduct::{Contact, Failure, contact_all, greet_here, reach};
use iolag_model::{Clock, MonotonicClock, Nanoseconds, ProbeStatus, SeriesKind};
use iolag_watch::{
    FirstContact, Location, MountKey, PublishedStatus, WatchPlan, missing_mounts, mount_keys, read_status,
};

use crate::watching::Places;

/// How long a directory may take to answer before it is said that it does not.
const FIRST_CONTACT: Nanoseconds = Nanoseconds::from_seconds(5);

/// The number of the mount, if it is known, or a sentence.
type Reached = Result<Option<u64>, String>;

/// What became of the first contacts.
#[derive(Debug, Default)]
pub struct Contacts {
    /// For the watch.
    pub all: Vec<FirstContact>,
    /// What the user is told.
    pub notices: Vec<String>,
    /// Why directories cannot be measured.
    pub refusals: Vec<String>,
    /// Where something has to be mounted for each target, and is not.
    missing: Vec<Option<PathBuf>>,
}

/// Goes to the targets of a plan. Refuses what is no directory, if it was typed or nothing else is left; a directory that does not answer
/// is watched all the same: that is what watching is for. One of which it is known that it does not is not asked: what cron starts every
/// quarter of an hour must not leave a process there each time.
///
/// # Errors
/// One sentence, if a directory is refused or no process can be made.
pub fn look_at_targets(plan: &WatchPlan, places: &Places, is_typed: bool) -> Result<Contacts, Failure> {
    let keys = mount_keys(&places.runtime, &plan.targets);
    let outstanding = outstanding_probes(places);
    let missing = missing_mounts(&places.runtime, &plan.targets);
    let mut contacts = Contacts { missing, ..Contacts::default() };
    let mut asked = Vec::new();
    // The control's directory is made later, and in memory.
    let is_control = |target: &usize| plan.targets[*target].kind == SeriesKind::Control;
    for target in (0..plan.targets.len()).filter(|target| !is_control(target)) {
        match outstanding.iter().find(|probe| blocks(probe, target, plan, &keys)) {
            Some(probe) => contacts.notices.push(format!(
                "{} is not asked: {} hangs since {} there",
                plan.targets[target].name, probe.series, probe.start
            )),
            None => asked.push(target),
        }
    }
    let (asked_count, is_any_blocked) = (asked.len(), !contacts.notices.is_empty());
    contact_in_turn(plan, &keys, asked, &mut contacts)?;
    // What was typed may be a slip of the pen; what the configuration names is missing, and that is data.
    let refusal = contacts.refusals.first().filter(|_| is_typed).cloned();
    let is_nothing_left = contacts.refusals.len() == asked_count && !is_any_blocked;
    if let Some(sentence) = refusal.or_else(|| is_nothing_left.then(|| contacts.refusals.join("\niolag: "))) {
        contacts.all.into_iter().for_each(FirstContact::give_up);
        return Err(Failure::unusable(sentence));
    }
    let watched = contacts.refusals.iter().map(|sentence| format!("{sentence}; it is watched all the same"));
    contacts.notices.extend(watched);
    Ok(contacts)
}

/// Goes to these targets, to one on each mount at a time; nobody goes where one has not come back.
fn contact_in_turn(
    plan: &WatchPlan,
    keys: &[MountKey],
    mut asked: Vec<usize>,
    contacts: &mut Contacts,
) -> Result<(), Failure> {
    let mut silent = Vec::new();
    while !asked.is_empty() {
        let mut visited = BTreeSet::new();
        let (now, later): (Vec<_>, Vec<_>) =
            asked.into_iter().partition(|target| visited.insert(&keys[*target]));
        contacts.add(plan, contact_targets(plan, &now)?, |target| silent.push(&keys[target]));
        let (blocked, next): (Vec<_>, Vec<_>) =
            later.into_iter().partition(|target| silent.contains(&&keys[*target]));
        asked = next;
        contacts.notices.extend(blocked.into_iter().map(|target| {
            format!(
                "{} is not asked: what it lies on does not answer; it is watched all the same",
                plan.targets[target].name
            )
        }));
    }
    Ok(())
}

/// Goes to these targets of a plan, all at once.
///
/// # Errors
/// If no process can be made, or the user does not want to wait.
fn contact_targets(plan: &WatchPlan, targets: &[usize]) -> Result<Vec<(usize, Contact<Reached>)>, Failure> {
    let reach = |target: &usize| match &plan.targets[*target].location {
        Location::Directory(directory) => reach(directory),
        Location::Server(place) => greet_here(place.target()).map(|_| None),
    };
    let answers = contact_all("scout", targets, FIRST_CONTACT, reach)?;
    Ok(targets.iter().copied().zip(answers).collect())
}

impl Contacts {
    /// Notes what became of contacts; `is_silent` hears of each target that has not answered.
    fn add(
        &mut self,
        plan: &WatchPlan,
        answers: Vec<(usize, Contact<Reached>)>,
        mut is_silent: impl FnMut(usize),
    ) {
        for (target, answer) in answers {
            match answer {
                Contact::Given(Ok(mount_number)) => self
                    .all
                    .extend(mount_number.map(|mount_number| FirstContact::Answered { target, mount_number })),
                Contact::Given(Err(sentence)) => match &self.missing[target] {
                    // That it is not there is what watching is for.
                    Some(mount_point) => self.notices.push(format!(
                        "nothing is mounted at {}, where {} was before; it is watched all the same",
                        mount_point.display(),
                        plan.targets[target].name
                    )),
                    None => self.refusals.push(sentence),
                },
                Contact::Silent { start, child, .. } => {
                    is_silent(target);
                    let (name, age) = (&plan.targets[target].name, MonotonicClock.now().since(start));
                    self.notices
                        .push(format!("{name} has not answered for {age}; it is watched all the same"));
                    self.all.push(FirstContact::Silent { target, child, start });
                }
            }
        }
    }
}

/// Probes that the last watch of this history, or this one before it reads its configuration again, left behind and that are still there.
fn outstanding_probes(places: &Places) -> Vec<ProbeStatus> {
    // A directory that is no safe place is refused when it is opened.
    let (Ok(PublishedStatus::Live(status)) | Ok(PublishedStatus::Ended(status))) =
        read_status(&places.runtime)
    else {
        return Vec::new();
    };
    if iolag_store::boot_id().as_ref() != Some(&status.boot_id) {
        return Vec::new();
    }
    let is_there = |probe: &ProbeStatus| Path::new(&format!("/proc/{}", probe.process)).exists();
    status.in_flight.into_iter().filter(is_there).collect()
}

/// Whether a probe is outstanding on the mount of `target`, given the mounts of all targets.
fn blocks(probe: &ProbeStatus, target: usize, plan: &WatchPlan, keys: &[MountKey]) -> bool {
    let of_probe = plan.targets.iter().position(|target| target.name == probe.series.target);
    of_probe.is_some_and(|of_probe| keys[of_probe] == keys[target])
}
