//! `iolag explain` of a directory: the answer, where the time went, what else was seen, what to do.

use iolag_model::{
    CacheWord, Explanation, ExplanationWord, Layer, NameServiceWord, ServedBy, Subject, UNKNOWN_FUNCTION,
    Waits, counted, one_line,
};

use self::parts::{Joined, OfWhole, PART_INDENT, lacks, layers, part_lines, percent};
use super::table::{Colour, Tone, wrapped};

pub(crate) mod command;
mod parts;

/// How lines after the first of a sentence begin.
const INDENT: &str = "    ";

/// What an explanation comes to, in about ten lines of this width.
pub fn explanation_text(explained: &Explanation, width: usize, colour: Colour) -> String {
    let mut text = colour.paint(Tone::Strong, &wrapped(&one_line(&answer(explained)), width, ""));
    text.push_str("\n\n");
    let mut say = |line: String, indent: &str| {
        text.push_str(&wrapped(&one_line(&line), width, indent));
        text.push('\n');
    };
    for line in part_lines(&explained.parts, |_| of_whole(explained)) {
        say(line, PART_INDENT);
    }
    say(String::new(), "");
    for sentence in
        [Some(names(explained)), Some(caches(explained)), waits(explained), Some(lies_on(explained))]
    {
        sentence.into_iter().for_each(|sentence| say(sentence, INDENT));
    }
    if let Some(advice) = advice(explained) {
        say(format!("What to do: {advice}"), INDENT);
    }
    text
}

fn answer(explained: &Explanation) -> String {
    let (directory, whole) = (&explained.seen.directory, whole(explained));
    match (&explained.word, explained.parts.first()) {
        (ExplanationWord::Because, Some(part)) => format!(
            "{directory} is slow because of {}: {} of {whole}.",
            layers(part, &of_whole(explained), Joined::Or),
            percent(part.share)
        ),
        (ExplanationWord::Divided, Some(part)) => format!(
            "{directory} is slow, and no single layer is to blame for half of {whole}: most, {}, is {}.",
            percent(part.share),
            layers(part, &of_whole(explained), Joined::Or)
        ),
        (ExplanationWord::CannotTell, Some(part)) => {
            let lack = part.lack.as_ref().map(|lack| format!(": {}", lacks(lack))).unwrap_or_default();
            format!(
                "Why {directory} is slow cannot be told: it is not known whose {} of {whole} are{lack}.",
                percent(part.share)
            )
        }
        (ExplanationWord::NotSlow, _) => {
            format!("{directory} is not slow at present: nothing took longer than {whole}.")
        }
        (_, None) => format!("Why {directory} is slow cannot be told: nothing took any time."),
    }
}

/// What the words of its parts need.
fn of_whole(explained: &Explanation) -> OfWhole<'_> {
    // Of several listings, those of one are told: its time is what is divided.
    let listings = match explained.subject {
        Subject::First => 1,
        Subject::LongListing => explained.seen.pairs.len().max(1) as u64,
    };
    OfWhole { served_by: explained.seen.served_by, listings, names: Some(&explained.names), mount: None }
}

/// What is divided.
fn whole(explained: &Explanation) -> String {
    let (took, names) = (explained.took_ns, counted(explained.seen.names, "name", "names"));
    match explained.subject {
        Subject::First => format!("the {took} of listing {names} for the first time"),
        Subject::LongListing => format!("the {took} of `ls -l` of {names}"),
    }
}

fn names(explained: &Explanation) -> String {
    let names = &explained.names;
    let times = format!("{} and {} in the middle of {} pairs", names.names_ns, names.numbers_ns, names.pairs);
    match names.word {
        NameServiceWord::TakesTime => {
            format!("Name service: `ls -l` and `ls -n` took {times}.")
        }
        NameServiceWord::OnlyFirst => format!(
            "Name service: only the first `ls -l` took long; since then its answers may be kept (`ls -l` and `ls -n`: {times})."
        ),
        NameServiceWord::CannotTell => format!(
            "Name service: `ls -l` took longer than `ls -n` in {} of {} pairs, too few to tell.",
            names.longer, names.pairs
        ),
        NameServiceWord::TakesNone => {
            format!("Name service: no time that shows; `ls -l` and `ls -n` took {times}.")
        }
    }
}

fn caches(explained: &Explanation) -> String {
    let caches = &explained.caches;
    let names = counted(explained.seen.names, "name", "names");
    let word = match caches.word {
        CacheWord::Kept => "caches help",
        CacheWord::NotKept => "nothing is kept",
        CacheWord::CannotTell => "too little to tell what caches do",
    };
    let requests = caches
        .first_requests
        .zip(caches.again_requests)
        .map(|(first, again)| format!("; round trips: {first} and {again}"));
    format!(
        "Caches: {names} took {} the first time and {} at once again, {word}{}.",
        caches.first_ns,
        caches.again_ns,
        requests.unwrap_or_default()
    )
}

/// Where it waited most often.
fn waits(explained: &Explanation) -> Option<String> {
    let seen = &explained.seen;
    let mut waits = Waits::default();
    let what = match explained.subject {
        Subject::First => {
            waits.join(&seen.first.waits);
            "listing"
        }
        Subject::LongListing => {
            seen.pairs.iter().for_each(|pair| waits.join(&pair.names.waits));
            "`ls -l`"
        }
    };
    let (function, found) = waits.functions.first()?;
    let function =
        if function == UNKNOWN_FUNCTION { "a function that the kernel does not tell us" } else { function };
    Some(format!("The kernel: {what} waited in {function} at {found} of {} looks.", waits.looks))
}

fn lies_on(explained: &Explanation) -> String {
    let file_system = &explained.seen.file_system;
    format!("File system: {} from {}, at {}.", file_system.kind, file_system.source, file_system.mount_point)
}

fn advice(explained: &Explanation) -> Option<String> {
    let part = explained.parts.first().filter(|_| explained.word == ExplanationWord::Because)?;
    let is_of_process = matches!(explained.seen.served_by, ServedBy::Process);
    let kept = match (explained.caches.word, explained.seen.served_by) {
        (CacheWord::NotKept, ServedBy::Process) => {
            " Its answers are not kept here: it may have options for that (attr_timeout, entry_timeout)."
        }
        (CacheWord::NotKept, _) => {
            " Its answers are not kept here: look for noac or actimeo=0 among the mount options."
        }
        _ => "",
    };
    Some(match part.layers[..] {
        [Layer::NameService] => "look at the passwd and group lines of /etc/nsswitch.conf, and at the services that they name (sssd, LDAP); until then, use `ls -n`.".into(),
        [Layer::Client] => "look at what else this machine does: its processors, memory and devices, and how many requests its mounts may have under way.".into(),
        [Layer::Network] => format!("look at the way to the server; fewer questions help as much as a shorter way.{kept}"),
        [Layer::Server] if is_of_process => {
            format!("look at the process that serves {}, and at what it waits for.{kept}", explained.seen.file_system.mount_point)
        }
        [Layer::Server] => format!("show this to who looks after the server.{kept}"),
        _ => format!("look at the server and at the way to it.{kept}"),
    })
}

#[cfg(test)]
mod tests {
    use iolag_analysis::explain;
    use iolag_model::{
        Connecting, Counted, FileSystem, ListPair, Nanoseconds, ProbeEnd, Probed, RequestTimes, SeenPlace,
    };

    use super::*;

    const MS: u64 = 1_000_000;

    fn probed(took: u64, requests: u64) -> Probed {
        let [round_trip_ns, execute_ns] = [50, 51].map(|each| Nanoseconds(each * requests * MS));
        let times = RequestTimes {
            name: "GETATTR".into(),
            requests,
            round_trip_ns,
            execute_ns,
            ..RequestTimes::default()
        };
        Probed {
            took_ns: Nanoseconds(took * MS),
            end: ProbeEnd::Ended,
            processor_ns: Nanoseconds(2 * MS),
            counted: Counted::Requests(vec![times]),
            waits: Waits { looks: 100, functions: vec![("rpc_wait_bit_killable".into(), 97)] },
        }
    }

    fn place(numbers: u64, names: u64, connecting: Connecting) -> SeenPlace {
        let requests = numbers / 52;
        let pair = ListPair { names: probed(names, requests), numbers: probed(numbers, requests) };
        SeenPlace {
            directory: "/home/me\u{1b}".into(),
            file_system: FileSystem {
                kind: "nfs4".into(),
                source: "nas:/home".into(),
                mount_point: "/home".into(),
                ..FileSystem::default()
            },
            served_by: ServedBy::Servers,
            names: 100,
            first: probed(numbers, requests),
            again: probed(numbers, requests),
            pairs: vec![pair; 5],
            start_ns: Nanoseconds(2 * MS),
            connecting,
        }
    }

    fn text(seen: SeenPlace) -> String {
        explanation_text(&explain(seen), 100, Colour::Never)
    }

    #[test]
    fn each_answer_is_told_in_about_ten_lines() {
        let texts = [
            text(place(5200, 5230, Connecting::Took(Nanoseconds(MS / 5)))),
            text(place(5200, 5230, Connecting::Took(Nanoseconds(48 * MS)))),
            text(place(
                5200,
                5230,
                Connecting::Unknown("no connection to 10.0.0.2:2049 can be opened".into()),
            )),
            text(place(5, 1005, Connecting::NoServer)),
            text(place(5, 6, Connecting::NoServer)),
        ];
        for text in &texts {
            assert!((5..=18).contains(&text.lines().count()), "{text}");
            assert!(
                !text.contains('\u{1b}') && text.lines().all(|line| line.chars().count() <= 100),
                "{text}"
            );
        }
        insta::assert_snapshot!(texts.join("\n---\n"));
    }
}
