//! The order of operations, seen from outside by strace, against a model written from the description of md-workbench's
//! access pattern alone (its phases in pseudo-code: datasets inside objects, reading from rank r - O(d+1), creating at
//! r + O(d+1), modulo the number of ranks).

use std::collections::BTreeMap;

use iolag_fixtures::{current_test, skip};

use crate::user::{User, said};

/// N, D, P, I, R, O.
#[derive(Debug, Clone, Copy)]
struct Shape {
    clients: i64,
    datasets: i64,
    precreated: i64,
    objects: i64,
    iterations: i64,
    offset: i64,
}

/// What each rank asks for, in order: a system call's kind and a name.
fn model(shape: Shape) -> Vec<Vec<String>> {
    let wrapped = |rank: i64| rank.rem_euclid(shape.clients);
    (0..shape.clients)
        .map(|rank| {
            let mut asked = Vec::new();
            let mut ask = |kind: &str, rank: i64, dataset: i64, file: i64| {
                asked.push(format!("{kind} {rank}_{dataset}/file-{file}"));
            };
            for file in 0..shape.precreated {
                for dataset in 0..shape.datasets {
                    ask("create", rank, dataset, file);
                }
            }
            let mut index = 0;
            for _ in 0..shape.iterations {
                for file in 0..shape.objects {
                    for dataset in 0..shape.datasets {
                        let reading = wrapped(rank - shape.offset * (dataset + 1));
                        let writing = wrapped(rank + shape.offset * (dataset + 1));
                        ask("stat", reading, dataset, index + file);
                        ask("open", reading, dataset, index + file);
                        ask("unlink", reading, dataset, index + file);
                        ask("create", writing, dataset, shape.precreated + index + file);
                    }
                }
                index += shape.objects;
            }
            for dataset in 0..shape.datasets {
                for file in 0..shape.precreated {
                    ask("unlink", rank, dataset, index + file);
                }
            }
            asked
        })
        .collect()
}

/// What strace saw, by thread: only calls with a name of an object.
fn seen(lines: &str) -> Vec<Vec<String>> {
    let mut by_thread: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for line in lines.lines() {
        let Some((thread, call)) = line.split_once(' ') else { continue };
        let Ok(thread) = thread.parse() else { continue };
        let call = call.trim_start();
        // The second half of an interrupted line has no name; the first half has it.
        let Some((kind, rest)) = call.split_once('(') else { continue };
        let Some(name) = rest.split('"').nth(1).filter(|name| name.contains("/file-")) else { continue };
        let kind = match kind {
            "statx" | "newfstatat" => "stat",
            "unlinkat" => "unlink",
            "openat" if rest.contains("O_CREAT") => "create",
            "openat" => "open",
            _ => continue,
        };
        by_thread.entry(thread).or_default().push(format!("{kind} {name}"));
    }
    by_thread.into_values().collect()
}

#[test]
fn the_sequence_of_system_calls_of_every_thread_is_that_of_the_pattern() {
    let shape = |clients, datasets, precreated, objects, iterations, offset| Shape {
        clients,
        datasets,
        precreated,
        objects,
        iterations,
        offset,
    };
    for shape in
        [shape(4, 3, 6, 3, 2, 1), shape(3, 2, 5, 5, 2, 2), shape(1, 4, 4, 2, 3, 1), shape(5, 3, 7, 4, 1, 3)]
    {
        let Some(lines) = traced(shape) else { return };
        let mut expected = model(shape);
        let mut found = seen(&lines);
        // Threads have no rank in their names; all ranks differ in what they ask for.
        expected.sort();
        found.sort();
        assert_eq!(found.len(), expected.len(), "{shape:?}");
        for (found, expected) in found.iter().zip(&expected) {
            let first = found.iter().zip(expected).position(|(found, expected)| found != expected);
            assert_eq!(
                (first.map(|at| (at, &found[at], &expected[at])), found.len()),
                (None, expected.len()),
                "{shape:?}"
            );
        }
    }
}

/// The trace of a whole run; `None` if strace is not there or may not trace.
fn traced(shape: Shape) -> Option<String> {
    let user = User::new();
    let target = user.directory("target");
    if said(user.command("sh").with_arguments(&["-c", "command -v strace"])).code != 0 {
        skip(&current_test(), "strace is not installed");
        return None;
    }
    let numbers =
        [shape.clients, shape.datasets, shape.precreated, shape.objects, shape.iterations, shape.offset]
            .map(|number| number.to_string());
    let [clients, datasets, precreated, objects, iterations, offset] = numbers.each_ref().map(String::as_str);
    let arguments = [
        "-f",
        "-qq",
        "-s",
        "200",
        "-e",
        "trace=statx,newfstatat,openat,unlinkat",
        "-o",
        "trace",
        env!("CARGO_BIN_EXE_iolag"),
        "bench",
        "metadata",
        &target,
        "--quiet",
        "-n",
        clients,
        "-D",
        datasets,
        "-P",
        precreated,
        "-I",
        objects,
        "-R",
        iterations,
        "-O",
        offset,
    ];
    let said = said(user.command("strace").with_arguments(&arguments));
    if said.errors.contains("ptrace") {
        skip(&current_test(), &said.errors);
        return None;
    }
    assert_eq!(said.code, 0, "{said:?}");
    Some(std::fs::read_to_string(user.path("trace")).expect("strace wrote it"))
}

/// Arguments for a command that is passed on by value.
trait WithArguments {
    fn with_arguments(self, arguments: &[&str]) -> Self;
}

impl WithArguments for std::process::Command {
    fn with_arguments(mut self, arguments: &[&str]) -> Self {
        self.args(arguments);
        self
    }
}
