//! `iolag explain` of a command: the answer, where its time went, what else was seen, what to do.

use iolag_analysis::{CommandExplanation, RunFindingKind};
use iolag_model::{
    Counted, ExplanationWord, Layer, Part, PartReason, ProgramEnd, SeenMount, ServedBy, TraceActivityKind,
    UNKNOWN_FUNCTION, counted, format_count, one_line,
};

use super::INDENT;
use super::parts::{Joined, OfWhole, PART_INDENT, awaited, lacks, layers, part_lines, percent};
use crate::finding::in_words::FindingInWords;
use crate::finding::run::in_words_each;
use crate::text::table::{Colour, Tone, wrapped};

type Finding = FindingInWords<RunFindingKind>;

/// Functions of the kernel that are told.
const FUNCTIONS: usize = 2;

/// What the explanation of a command comes to, in about ten lines of this width.
pub fn command_explanation_text(explained: &CommandExplanation, width: usize, colour: Colour) -> String {
    let findings = in_words_each(&explained.findings);
    let mut text = colour.paint(Tone::Strong, &wrapped(&one_line(&answer(explained)), width, ""));
    text.push_str("\n\n");
    let mut say = |line: String, indent: &str| {
        text.push_str(&wrapped(&one_line(&line), width, indent));
        text.push('\n');
    };
    for line in part_lines(&explained.parts, |part| of_whole(explained, part)) {
        say(line, PART_INDENT);
    }
    say(String::new(), "");
    let sentences = [
        never_back(&findings).map(|finding| format!("Hangs: {}", finding.sentence)),
        Some(look_ups(explained, &findings)),
        Some(name_service(explained)),
        Some("Caches: one execution does not tell what they do; run it again, and compare.".to_owned()),
        waits(explained),
        lies_on(explained),
        Some(ended(explained)),
        advice(explained, &findings).map(|advice| format!("What to do: {advice}")),
    ];
    sentences.into_iter().flatten().for_each(|sentence| say(sentence, INDENT));
    for trust in &explained.seen.trust {
        say(format!("Doubt: {}; {}.", trust.doubt, trust.advice), INDENT);
    }
    text
}

fn answer(explained: &CommandExplanation) -> String {
    let (program, took) = (format!("`{}`", explained.seen.program), explained.took_ns);
    let Some(part) = explained.parts.first() else {
        return format!("Where the time of {program} went cannot be told: nothing took any.");
    };
    let (share, whose) = (percent(part.share), layers(part, &of_whole(explained, part), Joined::Or));
    match (&explained.word, &part.layers[..]) {
        (ExplanationWord::NotSlow, _) => format!("{program} is not slow: it took {took}."),
        (ExplanationWord::Because, [Layer::Processor]) => {
            format!("{program} is not slow because of storage: {share} of {took} it worked on the processor.")
        }
        (ExplanationWord::Because, [Layer::Elsewhere]) => {
            let what = longest_wait(part);
            format!(
                "{program} is not slow because of storage: {share} of {took} it waited, mostly for {what}."
            )
        }
        (ExplanationWord::Because, _) => {
            format!("{program} is slow because of {whose}: {share} of {took}{}.", asked_for(part))
        }
        (ExplanationWord::Divided, [Layer::Elsewhere]) => format!(
            "{program} took {took}, and nothing has half of that: most, {share}, it waited, mostly for {}.",
            longest_wait(part)
        ),
        (ExplanationWord::Divided, []) => format!(
            "{program} took {took}, and nothing has half of that: of most, {share}, it cannot be told whose it is."
        ),
        (ExplanationWord::Divided, _) => {
            format!("{program} took {took}, and nothing has half of that: most, {share}, is {whose}.")
        }
        (ExplanationWord::CannotTell, _) => match (&part.mount, &part.lack) {
            (Some(mount), lack) => {
                let lack = lack.as_ref().map(|lack| format!(": {}", lacks(lack))).unwrap_or_default();
                format!(
                    "{program} is slow because of what is mounted at {mount}: {share} of {took}; which layer of it that is cannot be told{lack}."
                )
            }
            _ => format!(
                "Why {program} took {took} cannot be told: {share} of it passed between calls, and without work."
            ),
        },
    }
}

fn asked_for(part: &Part) -> String {
    match part.reason {
        PartReason::Absent { absent, look_ups, .. } => {
            format!(
                "; {} of {} names were not where they were looked for",
                format_count(absent),
                format_count(look_ups)
            )
        }
        _ => String::new(),
    }
}

fn longest_wait(part: &Part) -> &'static str {
    match &part.reason {
        PartReason::Waited(waits) => waits.first().map_or("something", |(kind, _)| awaited(kind)),
        _ => "something",
    }
}

fn of_whole<'a>(explained: &'a CommandExplanation, part: &Part) -> OfWhole<'a> {
    let mount = part.mount.as_deref().and_then(|mount| mount_at(explained, mount));
    OfWhole {
        served_by: mount.map_or(ServedBy::Unknown, |mount| mount.served_by),
        listings: 1,
        names: None,
        mount: mount.map(|mount| {
            let file_system = &mount.file_system;
            (calls_on(explained, mount), file_system.kind.as_str(), file_system.mount_point.as_str())
        }),
    }
}

fn mount_at<'a>(explained: &'a CommandExplanation, point: &str) -> Option<&'a SeenMount> {
    explained.seen.mounts.iter().find(|mount| mount.file_system.mount_point == point)
}

/// How many calls were made there.
fn calls_on(explained: &CommandExplanation, mount: &SeenMount) -> u64 {
    let point = &mount.file_system.mount_point;
    let is_there = |kind: &TraceActivityKind| match kind {
        TraceActivityKind::Storage(other) | TraceActivityKind::LookUps(other) => other == point,
        _ => false,
    };
    let there = explained.seen.elapsed.activities.iter().filter(|activity| is_there(&activity.kind));
    there.map(|activity| activity.calls).sum()
}

/// What is found of questions in vain, or how many there were.
fn look_ups(explained: &CommandExplanation, findings: &[Finding]) -> String {
    let counts = explained.seen.summary.lookups;
    match in_vain(findings) {
        Some(finding) => format!("Look-ups: {}", finding.sentence),
        None if counts.calls == 0 => "Look-ups: none.".into(),
        None if counts.absent == 0 => {
            format!("Look-ups: each of {} found what it was for.", counted(counts.calls, "name", "names"))
        }
        None => format!(
            "Look-ups: {} of {} found nothing, nowhere so often that it would be worth a change.",
            format_count(counts.absent),
            format_count(counts.calls)
        ),
    }
}

fn in_vain(findings: &[Finding]) -> Option<&Finding> {
    use RunFindingKind::{AskedInVain, ListedInVain, SearchedInVain};
    findings.iter().find(|finding| matches!(finding.kind, AskedInVain | ListedInVain | SearchedInVain))
}

/// A call that did not come back, which is more than slow.
fn never_back(findings: &[Finding]) -> Option<&Finding> {
    findings.iter().find(|finding| finding.kind == RunFindingKind::NeverBack)
}

fn name_service(explained: &CommandExplanation) -> String {
    let asked = explained.parts.iter().find_map(|part| match part.reason {
        PartReason::NameCalls { calls } => Some((calls, part.time_ns)),
        _ => None,
    });
    match asked {
        Some((calls, time)) => format!(
            "Name service: {} to its daemons, servers and files took {time}.",
            counted(calls, "call", "calls")
        ),
        None => "Name service: the trace shows no question to one.".into(),
    }
}

/// Where its tasks waited most often.
fn waits(explained: &CommandExplanation) -> Option<String> {
    let waits = &explained.seen.waits;
    let name = |function: &str| match function {
        UNKNOWN_FUNCTION => "a function that the kernel does not tell us".to_owned(),
        function => function.to_owned(),
    };
    let told = waits.functions.iter().take(FUNCTIONS);
    let told: Vec<_> = told.map(|(function, found)| format!("in {} at {found}", name(function))).collect();
    (!told.is_empty())
        .then(|| format!("The kernel: a task of it waited {} of {} looks.", told.join(", "), waits.looks))
}

/// The mount with most of the time.
fn lies_on(explained: &CommandExplanation) -> Option<String> {
    let point = explained.parts.iter().find_map(|part| part.mount.as_deref());
    let of_look_ups = || {
        let mut activities = explained.seen.elapsed.activities.iter();
        activities.find_map(|activity| match &activity.kind {
            TraceActivityKind::LookUps(point) => Some(point.as_str()),
            _ => None,
        })
    };
    let is_of_look_ups =
        matches!(explained.parts.first().map(|part| &part.layers[..]), Some([Layer::LookUps]));
    let point = if is_of_look_ups { of_look_ups() } else { point };
    let mount = mount_at(explained, point?)?;
    let file_system = &mount.file_system;
    let requests = match &mount.counted {
        Counted::Requests(times) => {
            let requests: u64 = times.iter().map(|times| times.requests).sum();
            format!(", {} made", counted(requests, "round trip was", "round trips were"))
        }
        _ => String::new(),
    };
    let calls = counted(calls_on(explained, mount), "call", "calls");
    Some(format!(
        "File system: most was asked of {} from {}, at {}: {calls}{requests}.",
        file_system.kind, file_system.source, file_system.mount_point
    ))
}

fn ended(explained: &CommandExplanation) -> String {
    let seen = &explained.seen;
    let how = match (seen.ended, &seen.cut) {
        (Some(ProgramEnd::Exited(status)), _) => format!("it ended with status {status}"),
        (Some(ProgramEnd::Killed(signal)), _) => format!("it was ended by signal {signal}"),
        (None, Some(cut)) => format!("its end was not seen: {cut}"),
        (None, None) => "its end was not seen".into(),
    };
    let deadline =
        seen.past_deadline_ns.map(|deadline| format!(", when its {deadline} were over")).unwrap_or_default();
    format!(
        "The command: {how}{deadline}. Tracing took {} more, in no part: {}, about {} each.",
        seen.elapsed.tracing_ns,
        counted(seen.summary.calls, "call", "calls"),
        seen.cost.whole().median
    )
}

fn advice(explained: &CommandExplanation, findings: &[Finding]) -> Option<String> {
    let part = explained.parts.first().filter(|_| explained.word != ExplanationWord::NotSlow)?;
    let served_by = of_whole(explained, part).served_by;
    if let Some(hangs) = never_back(findings).filter(|_| part.layers != [Layer::Processor]) {
        return Some(hangs.advice.clone());
    }
    let questions = findings.iter().find(|finding| finding.kind != RunFindingKind::LongCall);
    let fewer = questions.map(|finding| format!(" Fewer questions help, too: {}", finding.advice));
    let fewer = fewer.unwrap_or_default();
    Some(match (&part.layers[..], &part.mount) {
        ([Layer::LookUps], _) => in_vain(findings).or(findings.first()).map_or_else(
            || "see with `iolag trace` which names are looked for where.".to_owned(),
            |finding| finding.advice.clone(),
        ),
        ([Layer::NameService], _) => {
            "look at /etc/nsswitch.conf, and at the services that it names (sssd, LDAP, DNS); a cache of names (nscd, sssd) answers at once.".to_owned()
        }
        ([Layer::Processor], _) => "look at what the program does itself, with perf or a profiler.".to_owned(),
        ([Layer::Elsewhere], _) => format!("look at what it waits for: {}.", longest_wait(part)),
        ([], _) => "see whether it maps files of slow storage, waits for locks, or whether others use the processors.".to_owned(),
        ([Layer::Client], _) => format!(
            "look at what else this machine does: its processors, memory and devices, and how many requests its mounts may have under way.{fewer}"
        ),
        ([Layer::Network], _) => format!("look at the way to the server; fewer questions help as much as a shorter way.{fewer}"),
        (_, Some(mount)) if served_by == ServedBy::Process => {
            format!("look at the process that serves {mount}, and at what it waits for.{fewer}")
        }
        ([Layer::Server], _) => format!("show this to who looks after the server.{fewer}"),
        _ => format!("see with `iolag explain` of the directory what is slow there.{fewer}"),
    })
}

#[cfg(test)]
mod tests;
