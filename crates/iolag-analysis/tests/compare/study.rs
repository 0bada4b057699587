//! The tables of the study of NFS against LNET (study 001), whose factors follow from its per cents only if these are of speed.

use iolag_analysis::ComparedWord;
use iolag_analysis::compare::{ComparedTable, Pairs};
use iolag_model::{Operation, Order};

use crate::made_up::{compared, nine};

/// Write, read and copy: by how many per cent LNET 1.8.1 and NFS are faster than the native client.
const PINGO: [(Operation, f64, f64); 3] =
    [(Operation::Write, 30.0, -39.0), (Operation::Read, 3.0, -71.0), (Operation::Create, 26.0, -61.0)];

fn pingo() -> ComparedTable {
    let of = |percent: fn((Operation, f64, f64)) -> f64| {
        PINGO.map(|row| (row.0, 1.0 + percent(row) / 100.0)).to_vec()
    };
    compared(vec![
        nine("native", &of(|_| 0.0), 0.01),
        nine("lnet-1.8.1", &of(|(_, lnet, _)| lnet), 0.012),
        nine("nfs", &of(|(_, _, nfs)| nfs), 0.008),
    ])
}

fn percent(ratio: f64) -> f64 {
    100.0 * ratio.exp_m1()
}

#[test]
fn per_cents_of_speed_are_those_of_the_study() {
    let table = pingo();
    assert_eq!(table.family, 6);
    for (row, (operation, lnet, nfs)) in table.rows.iter().zip(PINGO) {
        assert_eq!(row.key.cell.operation, operation);
        for (cell, expected) in row.cells.iter().zip([lnet, nfs]) {
            let difference = cell.compared.difference.as_ref().unwrap();
            let found = percent(difference.estimate().known().unwrap());
            assert!((found - expected).abs() < 0.5, "{operation}: {found}, not {expected}");
            assert_eq!(cell.pairs, Pairs::Blocks { blocks: 9, order: Order::Interleaved });
            assert_eq!((cell.runs, cell.bounded), ([9, 9], [0, 0]));
            let word = if expected > 0.0 { ComparedWord::Faster } else { ComparedWord::Slower };
            // Three per cent are within what counts as the same, or not far from it.
            assert!(cell.compared.word == word || expected == 3.0, "{operation}: {:?}", cell.compared.word);
        }
    }
}

/// "LNET is 2.1 times faster than NFS for write, 3.5 for read, 3.2 for copy": with rounded per cents, between these.
#[test]
fn factors_between_the_others_are_those_of_the_study() {
    let table = pingo();
    let expected = [(2.11, 2.16), (3.47, 3.63), (3.18, 3.29)];
    assert_eq!(table.between.len(), 3);
    for (between, (low, high)) in table.between.iter().zip(expected) {
        assert_eq!(between.sides, [2, 1], "nfs is the slower one");
        let factor = between.cell.compared.difference.as_ref().unwrap().estimate().known().unwrap().exp();
        assert!((low..high).contains(&factor), "{factor} is not within {low} and {high}");
        let interval = between.cell.compared.interval.unwrap();
        assert!(interval.low().exp() > low - 0.1 && interval.high().exp() < high + 0.1, "{interval:?}");
        assert_eq!(between.cell.compared.word, ComparedWord::Faster);
    }
}
