//! What a program asks for nothing, in words.

use std::borrow::Cow;

use iolag_analysis::{
    AskedAgain, AskedInVain, ListedInVain, LongCall, NeverBack, Searched, SearchedInVain, SetVariables,
    TracedShare, joined, share_in_words,
};
use iolag_model::{TraceList, WaitEnd, counted, format_count, format_duration, one_line};

use crate::finding::in_words::{About, InWords};
use crate::workload::command::shell_command;

impl InWords for NeverBack {
    fn sentence(&self, _about: &About<'_>) -> String {
        let Self { call, waited_ns, until, calls, place: _ } = self;
        let after = waited_ns.map(|waited| format!(" after {}", format_duration(waited)));
        let when = match until {
            WaitEnd::TraceEnded => "the trace ended".to_owned(),
            WaitEnd::Killed(0) => "a signal ended the program".to_owned(),
            WaitEnd::Killed(signal) => format!("signal {signal} ended the program"),
            WaitEnd::ProcessEnded => "the program ended".to_owned(),
        };
        let others = match calls {
            1 => String::new(),
            calls => format!("; of {} such calls it waited longest", format_count(*calls)),
        };
        format!(
            "`{}` of {} had not come back{} when {when}{others}.",
            call.name,
            one_line(call.path.as_deref().unwrap_or_default()),
            after.unwrap_or_default()
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        match &self.place {
            Some(place) => {
                let command = ["iolag", "explain", place].map(str::to_owned);
                format!("Ask whether the storage answers: `{}`.", shell_command(&command)).into()
            }
            None => "Ask whether that storage answers: `iolag explain` of its directory tells.".into(),
        }
    }
}

impl InWords for AskedInVain {
    fn sentence(&self, _about: &About<'_>) -> String {
        let calls = of_all(self.share);
        if !self.same.is_empty() {
            let times = |calls| counted(calls, "time", "times");
            let same = self.same.iter().map(|it| format!("{} ({})", one_line(&it.name), times(it.calls)));
            let same = joined(same.collect());
            return format!("{calls} asked for what is not there, most of them again and again for {same}.");
        }
        if let Some((directory, names)) = &self.one {
            let names = counted(*names, "name", "names");
            return format!(
                "{calls} asked for what is not there, most of them for {names} in {}.",
                one_line(directory)
            );
        }
        let listed = self.directories.saturating_sub(self.of_loader);
        let directories = counted(listed, "directory", "directories");
        let examples = some(&self.examples, listed);
        let below = below(self.of_loader);
        format!("{calls} asked in {directories} that never had anything{examples}{below}.")
    }

    fn advice(&self) -> Cow<'static, str> {
        match self.same.len() {
            0 if self.one.is_some() => {
                "Have the program list that directory once, or remember that it has nothing, instead of asking for each name.".into()
            }
            0 => advice(self.searched, self.set),
            1 => "Have the program remember that this file is not there, or create it.".into(),
            _ => "Have the program remember that these files are not there, or create them.".into(),
        }
    }
}

impl InWords for ListedInVain {
    fn sentence(&self, _about: &About<'_>) -> String {
        let TraceList { directories, in_vain, .. } = &self.list;
        let listed = counted(*directories, "directory", "directories");
        let which = match in_vain == directories {
            true => format!("all {listed}"),
            false => format!("{} of the {listed}", format_count(*in_vain)),
        };
        format!("{} looked in vain in {which} of {}.", of_all(self.share), joined(variables(self)))
    }

    fn advice(&self) -> Cow<'static, str> {
        let TraceList { directories, in_vain, .. } = &self.list;
        let listed = counted(*directories, "directory", "directories");
        let variables = variables(self);
        let which = match variables.len() {
            1 => variables.concat(),
            _ => format!("that of {} which the program reads", joined(variables)),
        };
        match in_vain == directories {
            true => {
                format!("Shorten {which}: of its {listed} none is there, or has anything that is wanted.")
            }
            false => format!(
                "Shorten {which}: {} of its {listed} are not there, or have nothing that is wanted.",
                format_count(*in_vain)
            ),
        }
        .into()
    }
}

/// The variables that list the directories.
fn variables(found: &ListedInVain) -> Vec<String> {
    let all = std::iter::once(&found.list.variable).chain(&found.alike);
    all.map(|variable| format!("`{}`", one_line(variable))).collect()
}

impl InWords for SearchedInVain {
    fn sentence(&self, _about: &About<'_>) -> String {
        let listed = self.directories.saturating_sub(self.of_loader);
        let directories = counted(listed, "directory", "directories");
        let what = match self.searched {
            Searched::PythonModules => "modules",
            Searched::Libraries => "libraries",
            Searched::Programs => "programs",
            Searched::PerlModules => "modules of Perl",
            Searched::Headers => "headers",
            Searched::Locales => "what a language needs",
            Searched::Anything => "names",
        };
        let examples = some(&self.examples, listed);
        let looked_for = joined(self.looked_for.iter().map(|name| one_line(name)).collect());
        let such_as = if (self.looked_for.len() as u64) < self.names { "such as " } else { "" };
        format!(
            "{} looked for {what} in {directories} that never {} them{examples}{}; {} ({such_as}{looked_for}) {} looked for along that list.",
            of_all(self.share),
            if listed == 1 { "has" } else { "have" },
            below(self.of_loader),
            counted(self.names, "name", "names"),
            if self.names == 1 { "was" } else { "were" },
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        advice(self.searched, self.set)
    }
}

impl InWords for AskedAgain {
    fn sentence(&self, _about: &About<'_>) -> String {
        let by = match self.own {
            own if 2 * own > self.of => "mostly by the process that had asked before",
            _ => "mostly by other processes",
        };
        format!(
            "{} asked again what had been answered, {by}: `{}` of {} {} times.",
            of_all(self.share),
            self.most.name,
            one_line(&self.most.path),
            format_count(self.most.asked)
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        match self.own {
            own if 2 * own > self.of => {
                "Have the program keep the answers, or start fewer programs; until then a mount whose client caches attributes and names for longer makes them cheap."
            }
            _ => "Start fewer programs that ask the same: keep one running, or hand on what the first found.",
        }
        .into()
    }
}

impl InWords for LongCall {
    fn sentence(&self, _about: &About<'_>) -> String {
        let Self { call, storage_ns } = self;
        let share = call.duration_ns.0 as f64 / storage_ns.0.max(1) as f64;
        format!(
            "One call, `{}` of {}, took {}, which is {} of the time in storage.",
            call.name,
            one_line(call.path.as_deref().unwrap_or_default()),
            format_duration(call.duration_ns),
            share_in_words(share)
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        "See whether it takes as long again, and what else the storage did then: `iolag ping` of its directory tells.".into()
    }
}

/// `13 035 of 21 199 calls (61 %; 534 ms of 808 ms in storage)`.
fn of_all(share: TracedShare) -> String {
    let part = share_in_words(share.calls as f64 / share.of_calls.max(1) as f64);
    let time = share.time_ns.map(|time| {
        format!("; {} of {} in storage", format_duration(time), format_duration(share.of_time_ns))
    });
    let of = counted(share.of_calls, "call", "calls");
    format!("{} of {of} ({part}{})", format_count(share.calls), time.unwrap_or_default())
}

/// What the loader of programs adds to the directories that it was given.
fn below(of_loader: u64) -> String {
    match of_loader {
        0 => String::new(),
        some => format!(", and in {} that the loader looks for below them", format_count(some)),
    }
}

/// Names of all, or of one of many.
fn some(examples: &[String], of: u64) -> String {
    let shown = examples.iter().map(|path| one_line(path));
    match examples.len() as u64 {
        0 => String::new(),
        all if all == of => format!(": {}", joined(shown.collect())),
        _ => format!(", such as {}", shown.take(1).collect::<String>()),
    }
}

fn advice(searched: Searched, set: SetVariables) -> Cow<'static, str> {
    if let (SetVariables::Others, Some(variable)) = (set, searched.variable()) {
        return format!(
            "Find where the list of these directories comes from, and shorten it: the program's `{variable}` was not set."
        )
        .into();
    }
    match searched {
        Searched::PythonModules => {
            "Shorten `PYTHONPATH`: Python asks in each of its directories at every import."
        }
        Searched::Libraries => {
            "Shorten `LD_LIBRARY_PATH`: every program that starts looks through it for every library."
        }
        Searched::Programs => {
            "Shorten `PATH`, or put those directories in front that have most of the programs."
        }
        Searched::PerlModules => "Shorten `PERL5LIB`: Perl looks through it for every module.",
        Searched::Headers => {
            "Shorten `CPATH` and the list of `-I`, or put those directories in front that have most of the headers."
        }
        Searched::Locales => {
            "Set `LC_ALL` or `LANG` to a language as `locale -a` writes it (`C.utf8`, not `C.UTF-8`)."
        }
        Searched::Anything => {
            "Take these directories out of the list that names them: `PYTHONPATH`, `LD_LIBRARY_PATH`, `PATH`, or the program's own."
        }
    }
    .into()
}

#[cfg(test)]
mod tests {
    use iolag_model::{AbsentName, Nanoseconds, RepeatedQuestion, TraceCall};

    use super::*;
    use crate::words::names::Names;

    const SHARE: TracedShare = TracedShare {
        calls: 200,
        of_calls: 2523,
        time_ns: Some(Nanoseconds::from_milliseconds(80)),
        of_time_ns: Nanoseconds::from_milliseconds(1200),
    };

    fn said(found: &dyn InWords) -> String {
        let names = Names { several_hosts: false };
        found.sentence(&About { series: &[], span: None, names: &names })
    }

    #[test]
    fn the_sentence_of_a_search_path_has_its_numbers_and_names() {
        let found = SearchedInVain {
            share: SHARE,
            searched: Searched::PythonModules,
            set: SetVariables::Unknown,
            directories: 9,
            of_loader: 0,
            names: 20,
            looked_for: vec!["numpy.py".to_owned()],
            examples: ["/opt/0", "/opt/1", "/opt/2"].map(str::to_owned).to_vec(),
        };
        assert_eq!(
            said(&found),
            "200 of 2 523 calls (7.9 %; 80.0 ms of 1.20 s in storage) looked for modules in 9 directories that never have them, such as \
             /opt/0; 20 names (such as numpy.py) were looked for along that list."
        );
        assert!(found.advice().starts_with("Shorten `PYTHONPATH`"));
        let all = SearchedInVain { names: 1, ..found.clone() };
        assert!(said(&all).ends_with("; 1 name (numpy.py) was looked for along that list."));
        let elsewhere = SearchedInVain { set: SetVariables::Others, ..found };
        assert!(elsewhere.advice().ends_with("the program's `PYTHONPATH` was not set."));
    }

    #[test]
    fn without_times_only_calls_are_told() {
        let found = AskedInVain {
            share: TracedShare { time_ns: None, ..SHARE },
            directories: 1,
            of_loader: 0,
            same: Vec::new(),
            one: None,
            searched: Searched::Libraries,
            set: SetVariables::Unknown,
            examples: vec!["/opt/lib".to_owned()],
        };
        assert_eq!(
            said(&found),
            "200 of 2 523 calls (7.9 %) asked in 1 directory that never had anything: /opt/lib."
        );
    }

    #[test]
    fn the_same_names_in_vain_and_what_the_loader_adds_are_told_as_that() {
        let absent = |name: &str, calls| AbsentName { name: name.to_owned(), calls };
        let found = AskedInVain {
            share: TracedShare { time_ns: None, ..SHARE },
            directories: 604,
            of_loader: 544,
            same: Vec::new(),
            one: None,
            searched: Searched::Libraries,
            set: SetVariables::This,
            examples: vec!["/opt/lib1".to_owned(), "/opt/lib2".to_owned()],
        };
        assert_eq!(
            said(&found),
            "200 of 2 523 calls (7.9 %) asked in 60 directories that never had anything, such as /opt/lib1, and in 544 that the loader looks \
             for below them."
        );
        let one = AskedInVain { one: Some(("/opt/x".to_owned(), 1800)), ..found.clone() };
        assert!(said(&one).ends_with("asked for what is not there, most of them for 1 800 names in /opt/x."));
        assert!(one.advice().starts_with("Have the program list that directory once"));
        let same = AskedInVain { same: vec![absent("/etc/app/site.cfg", 198)], ..found };
        assert_eq!(
            said(&same),
            "200 of 2 523 calls (7.9 %) asked for what is not there, most of them again and again for /etc/app/site.cfg (198 times)."
        );
        assert_eq!(same.advice(), "Have the program remember that this file is not there, or create it.");
    }

    #[test]
    fn a_list_is_told_with_its_variable() {
        let list = TraceList {
            variable: "PYTHONPATH".to_owned(),
            directories: 200,
            in_vain: 200,
            ..TraceList::default()
        };
        let all = ListedInVain { share: TracedShare { time_ns: None, ..SHARE }, list, alike: Vec::new() };
        assert_eq!(
            said(&all),
            "200 of 2 523 calls (7.9 %) looked in vain in all 200 directories of `PYTHONPATH`."
        );
        assert_eq!(
            all.advice(),
            "Shorten `PYTHONPATH`: of its 200 directories none is there, or has anything that is wanted."
        );
        let list = TraceList { in_vain: 120, ..all.list.clone() };
        let some = ListedInVain { list, alike: vec!["A\u{1b}B".to_owned()], ..all };
        assert!(
            said(&some).contains("in 120 of the 200 directories of `PYTHONPATH` and `A\u{fffd}B`."),
            "{}",
            said(&some)
        );
        assert_eq!(
            some.advice(),
            "Shorten that of `PYTHONPATH` and `A\u{fffd}B` which the program reads: 120 of its 200 directories are not there, or have nothing that is \
             wanted."
        );
    }

    #[test]
    fn who_asks_again_is_told() {
        let most = RepeatedQuestion { name: "stat".to_owned(), path: "/etc/passwd".to_owned(), asked: 1200 };
        let own = AskedAgain { share: SHARE, own: 200, of: 300, most };
        assert!(said(&own).ends_with(
            "asked again what had been answered, mostly by the process that had asked before: `stat` of /etc/passwd 1 200 times."
        ));
        let others = AskedAgain { own: 1, ..own };
        assert!(said(&others).contains("mostly by other processes"));
        assert!(others.advice().starts_with("Start fewer programs"));
    }

    #[test]
    fn a_call_that_never_came_back_is_told_with_what_to_ask() {
        let call =
            TraceCall { name: "openat".to_owned(), path: Some("/data/x".to_owned()), ..TraceCall::default() };
        let found = NeverBack {
            call,
            waited_ns: Some(Nanoseconds::from_seconds(14)),
            until: WaitEnd::TraceEnded,
            calls: 1,
            place: Some("/data and more".to_owned()),
        };
        assert_eq!(said(&found), "`openat` of /data/x had not come back after 14.0 s when the trace ended.");
        assert_eq!(found.advice(), "Ask whether the storage answers: `iolag explain '/data and more'`.");
        let several =
            NeverBack { waited_ns: None, until: WaitEnd::Killed(9), calls: 3, place: None, ..found };
        assert_eq!(
            said(&several),
            "`openat` of /data/x had not come back when signal 9 ended the program; of 3 such calls it waited longest."
        );
    }

    #[test]
    fn a_long_call_is_told_with_its_share() {
        let call = TraceCall {
            name: "openat".to_owned(),
            path: Some("/data/x".to_owned()),
            duration_ns: Nanoseconds::from_milliseconds(300),
            ..TraceCall::default()
        };
        let found = LongCall { call, storage_ns: Nanoseconds::from_seconds(1) };
        assert_eq!(
            said(&found),
            "One call, `openat` of /data/x, took 300 ms, which is 30 % of the time in storage."
        );
    }
}
