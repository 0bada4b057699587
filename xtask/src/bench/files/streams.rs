//! Streams, every block recorded, against fio: bytes a second, and what a byte takes of the processors of the whole machine.
//!
//! The latter is the difference between many passes and one, by the bytes of the passes in between: what starting, making the file and removing
//! it takes is in neither side. What storing the samples takes is in iolag's.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use super::image::Image;
use super::processor;
use super::sides::{Recording, Side, Work};
use crate::bench::setting::{Setting, Size};
use crate::machine;
use crate::pairs::{self, Comparison, Requirement, TABLE_HEAD, Verdict};

/// Of a byte's processor time, in parts of fio's.
const MOST: Requirement = Requirement::AtMost(1.05);
/// Of the bytes a second, in parts of fio's.
const LEAST: Requirement = Requirement::AtLeast(0.90);
/// What [`pairs::PAIRS`] leave undecided is told, and looked at once more after so many.
const PAIRS_MOST: usize = 60;

/// Phase, bytes of a block, passes in memory, passes with direct I/O.
const ROWS: [(&str, u64, usize, usize); 3] =
    [("random-read", 4096, 5, 2), ("write", 1 << 20, 7, 7), ("read", 1 << 20, 13, 13)];

/// What one side did: bytes a second, and seconds of the processors for a byte.
type Told = [f64; 2];

/// Write, read and random read through the page cache, in a tmpfs.
pub fn run(setting: &Setting<'_>) -> Result<()> {
    let Some(sides) = sides(setting)? else { return Ok(()) };
    let (directory, file_bytes) = (Path::new("/dev/shm"), file_bytes(setting));
    ROWS.into_iter().try_for_each(|(phase, block_bytes, times, _)| {
        let work = Work { directory, phase, file_bytes, block_bytes, io: "buffered" };
        rows(setting, &sides, work, times, "tmpfs")
    })
}

/// The same past the page cache, on a loop device.
pub fn run_direct(setting: &Setting<'_>) -> Result<()> {
    let Some(sides) = sides(setting)? else { return Ok(()) };
    let file_bytes = file_bytes(setting);
    let image = match Image::ext4(file_bytes * 2 + (64 << 20)) {
        Ok(image) => image,
        Err(why) => {
            println!("not measured: {why:#}");
            return Ok(());
        }
    };
    ROWS.into_iter().try_for_each(|(phase, block_bytes, _, times)| {
        let work = Work { directory: image.path(), phase, file_bytes, block_bytes, io: "direct" };
        rows(setting, &sides, work, times, "ext4 on a loop device in memory, direct I/O")
    })
}

const fn file_bytes(setting: &Setting<'_>) -> u64 {
    match setting.size {
        Size::Full => 512 << 20,
        Size::Tiny => 2 << 20,
    }
}

/// iolag, and fio as it is and as it records each block.
struct Sides {
    iolag: Side,
    rivals: [(&'static str, Side); 2],
}

/// All sides, unless something is missing: then that is told.
fn sides(setting: &Setting<'_>) -> Result<Option<Sides>> {
    let is_there = Command::new("fio").arg("--version").output().is_ok_and(|said| said.status.success());
    if !is_there {
        println!("not measured: fio is not installed");
        return Ok(None);
    }
    if let Err(why) = processor::machine_s() {
        println!("not measured: {why:#}");
        return Ok(None);
    }
    let program = setting.places.build("iolag", "iolag", setting.size.shipped())?;
    println!("{TABLE_HEAD}");
    let fio = |name: &str, recording| setting.scratch(name).map(|scratch| Side::fio(scratch, recording));
    let rivals = [
        ("fio", fio("fio", Recording::Counted)?),
        ("fio that writes down each block", fio("fio-log", Recording::EachBlock)?),
    ];
    Ok(Some(Sides { iolag: Side::iolag(program, setting.scratch("streams")?), rivals }))
}

/// Where blocks are small, what recording them takes shows: there fio is asked to record them, too.
fn rows(setting: &Setting<'_>, sides: &Sides, work: Work<'_>, times: usize, place: &str) -> Result<()> {
    let rivals = if work.block_bytes < 1 << 20 { &sides.rivals[..] } else { &sides.rivals[..1] };
    rivals.iter().try_for_each(|rival| row(setting, (&sides.iolag, rival), work, times, place))
}

fn row(
    setting: &Setting<'_>,
    (iolag, (name, rival)): (&Side, &(&str, Side)),
    work: Work<'_>,
    times: usize,
    place: &str,
) -> Result<()> {
    let (ours, theirs) =
        (|| told(iolag, work, times, setting.size), || told(rival, work, times, setting.size));
    let mut values: Vec<(Told, Told)> = Vec::new();
    pairs::alternate(&mut values, setting.size.pairs(), ours, theirs)?;
    let of = |values: &[(Told, Told)]| -> Result<[Comparison; 2]> {
        let side = |index: usize| values.iter().map(|(a, b)| (a[index], b[index])).collect::<Vec<_>>();
        Ok([pairs::compare(&side(0))?, pairs::compare(&side(1))?])
    };
    let told_of = |values: &[(Told, Told)]| -> Result<bool> {
        let [rate, cost] = of(values)?;
        let required = |requirement| (setting.size == Size::Full).then_some(requirement);
        let what =
            format!("{} in blocks of {} KiB, {place}, against {name}", work.phase, work.block_bytes >> 10);
        let machine = machine::description();
        println!("{}", rate.row(&what, "MB/s", required(LEAST), &machine));
        let cost_of = format!("{what}: processor time of the whole machine");
        println!("{}", cost.row(&cost_of, "ms/GB", required(MOST), &machine));
        Ok(rate.judge(LEAST) == Verdict::Undecided || cost.judge(MOST) == Verdict::Undecided)
    };
    let is_undecided = told_of(&values)?;
    if setting.size == Size::Full && is_undecided {
        pairs::alternate(&mut values, PAIRS_MOST, ours, theirs)?;
        told_of(&values)?;
    }
    Ok(())
}

/// One pass, and many: the rate of the many, in MB/s, and what a GB more took of the processors, in ms.
fn told(side: &Side, work: Work<'_>, times: usize, size: Size) -> Result<Told> {
    let (once, often) = (side.moves(work, 1)?, side.moves(work, times)?);
    let bytes = work.file_bytes as f64 * (times - 1) as f64;
    let more_s = match size {
        Size::Full => often.processor_s - once.processor_s,
        // Between passes that take no time there is no difference.
        Size::Tiny => often.processor_s,
    };
    ensure!(more_s > 0.0, "{times} passes took {more_s:.3} s of the processors more than one");
    Ok([often.bytes_per_s / 1e6, more_s * 1e3 / (bytes / 1e9)])
}
