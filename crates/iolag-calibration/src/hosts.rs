//! How often is an attribute of hosts blamed that has nothing to do with what takes too long, and the one found that has?
//!
//! A campaign is a farm: each host has attributes and so many attempts, of which a share of its own takes too long. What is judged is [`rank_hosts`].

use std::collections::BTreeMap;

use iolag_analysis::history::{HostAttempts, HostRanking, HostSeen, Standing, TaskOfHosts, rank_hosts};
use iolag_model::Random;

use crate::measured::{Limit, Measured};
use crate::seed::noise_of;

/// Standard deviation of the logarithm of the share between hosts that are alike.
const SPREAD: f64 = 0.5;
/// Attempts of a host.
const ATTEMPTS: u64 = 400;
/// Those of a host with few.
const FEW_ATTEMPTS: u64 = 20;
/// The share that takes too long, of hosts with few slots.
const SHARE: f64 = 0.01;
/// Attributes that are drawn for each host by itself, and how many values they have.
const DRAWN: [(&str, u64); 6] =
    [("client", 2), ("kernel", 3), ("rack", 4), ("switch", 5), ("tuning", 2), ("vendor", 3)];
/// At most so many campaigns may blame an attribute that does not matter.
const FALSE_MOST: f64 = 0.05;
/// At least so many find the one that matters.
const FOUND_LEAST: f64 = 0.9;

/// Farms of one kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hosts {
    hosts: usize,
    /// How many times as often something takes too long on hosts with 28 slots.
    factor: f64,
    tries: Tries,
}

/// How many attempts hosts make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tries {
    /// As many.
    Alike,
    /// Few on hosts with 28 slots, and many on the others.
    BySlots,
}

impl Hosts {
    /// Names and rows.
    pub fn rows() -> Vec<(String, Self)> {
        let row = |(hosts, factor): (usize, f64)| {
            let matters =
                if factor == 1.0 { "nothing-matters".to_owned() } else { format!("slots-x{factor}") };
            (format!("hosts/{matters}/{hosts}"), Self { hosts, factor, tries: Tries::Alike })
        };
        let apart = [40, 200].map(|hosts| {
            (
                format!("hosts/nothing-matters-few-attempts/{hosts}"),
                Self { hosts, factor: 1.0, tries: Tries::BySlots },
            )
        });
        let farms = [(12, 1.0), (40, 1.0), (200, 1.0), (40, 2.0), (40, 5.0), (200, 2.0)];
        farms.into_iter().map(row).chain(apart).collect()
    }

    /// How many farms have an attribute blamed that does not matter, and the slots found.
    pub fn measure(self, name: &str, campaigns: usize, seed: u64) -> Vec<Measured> {
        let (mut with_false, mut found, mut together) = (0, 0, 0);
        for number in 0..campaigns {
            let mut noise = noise_of(name, number, seed);
            let ranked = rank_hosts(&[self.farm(&mut noise)], noise.bits());
            let told = ranked.iter().flat_map(|one: &HostRanking| &one.attributes);
            let told = told.filter(|one| one.standing == Standing::Explains);
            let names: Vec<String> = told.map(|one| one.facts.join(" ")).collect();
            let is_slots = |name: &String| name == "age cores slots";
            let is_true = |name: &String| self.factor != 1.0 && is_slots(name);
            with_false += usize::from(!names.iter().all(is_true));
            found += usize::from(names.iter().any(|name| name.contains("slots")));
            together += usize::from(names.iter().any(is_slots));
        }
        let mut measured =
            vec![Measured::share("a false attribute", with_false, campaigns, Limit::AtMost(FALSE_MOST))];
        if self.factor != 1.0 {
            let limit = if self.factor < 5.0 { Limit::Untold } else { Limit::AtLeast(FOUND_LEAST) };
            measured.push(Measured::share("slots found", found, campaigns, limit));
            measured.push(Measured::share("with cores and age", together, campaigns, limit));
        }
        measured
    }

    fn farm(self, noise: &mut Random) -> TaskOfHosts {
        let hosts = (0..self.hosts).map(|_| self.host(noise)).collect();
        TaskOfHosts { task: "job-setup".to_owned(), target: "/afs".to_owned(), hosts }
    }

    fn host(self, noise: &mut Random) -> HostSeen {
        let drawn =
            DRAWN.into_iter().map(|(name, values)| (name.to_owned(), noise.below(values).to_string()));
        let mut facts: BTreeMap<String, String> = drawn.collect();
        let kind = noise.below(3) as usize;
        let (slots, cores, age) = [("28", "24", "newest"), ("16", "16", "2009"), ("8", "8", "2007")][kind];
        let given = [("slots", slots), ("cores", cores), ("age", age)];
        facts.extend(given.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let factor = if slots == "28" { self.factor } else { 1.0 };
        let share = (SHARE * factor * (SPREAD * noise.normal()).exp()).min(1.0);
        let attempts = match self.tries {
            Tries::BySlots if slots == "28" => FEW_ATTEMPTS,
            Tries::Alike | Tries::BySlots => ATTEMPTS,
        };
        let past = (0..attempts).filter(|_| noise.unit() < share).count() as u64;
        HostSeen { facts, attempts: HostAttempts { past, attempts } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measured::Judgement;

    #[test]
    fn of_few_farms_slots_are_found_and_nothing_else_is_blamed() {
        for (name, hosts) in Hosts::rows().into_iter().filter(|(name, _)| name.ends_with("/40")) {
            let measured = hosts.measure(&name, 20, 1);
            assert!(measured.iter().all(|one| one.judgement() != Judgement::Fails), "{name}: {measured:?}");
        }
    }
}
