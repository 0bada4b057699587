//! The rows, and what each of them asks.

use super::campaigns::{CELLS, Campaigns, Clock, Hung, Luck, Order, Tails};
use super::limits::SAME_WITHIN;
use super::precision::Precise;
use super::{Asked, Compare};

/// Names and questions.
pub fn rows() -> Vec<(String, Compare)> {
    let mut rows = equal();
    rows.extend(found());
    rows.extend(same());
    rows.extend(precise());
    rows.into_iter().map(|(name, campaigns, asked)| (name, Compare { campaigns, asked })).collect()
}

type Asks = Vec<(String, Campaigns, Asked)>;

fn percent(spread: f64) -> String {
    format!("{}-percent", 100.0 * spread)
}

/// Nothing differs.
fn equal() -> Asks {
    let usual = Campaigns::EQUAL;
    let mut rows: Asks = Vec::new();
    let mut add = |label: String, campaigns: Campaigns, asked: Asked| {
        rows.push((format!("compare/equal/{label}/{}", campaigns.blocks), campaigns, asked));
    };
    for (spread, coefficients) in [(0.0, &[0.0][..]), (0.05, &[0.0, 0.5, 0.8]), (0.3, &[0.0, 0.5, 0.8])] {
        for &coefficient in coefficients {
            let sizes = if spread == 0.05 { &[4, 6, 9, 25][..] } else { &[9] };
            for &blocks in sizes {
                let campaigns = Campaigns { spread, coefficient, blocks, ..usual };
                add(format!("{}/ar{coefficient}", percent(spread)), campaigns, Asked::Truth);
            }
        }
    }
    for coefficient in [0.0, 0.5, 0.8] {
        let campaigns = Campaigns { spread: 0.3, coefficient, luck: Luck::OfRun, ..usual };
        add(format!("30-percent-of-run/ar{coefficient}"), campaigns, Asked::Truth);
        let campaigns = Campaigns { coefficient, order: Order::Random, ..usual };
        add(format!("random-order/ar{coefficient}"), campaigns, Asked::Truth);
        // Two days of which each has a luck of its own are two values: nobody can tell that from a difference.
        let asked = if coefficient == 0.0 { Asked::Truth } else { Asked::Told };
        let campaigns = Campaigns { coefficient, order: Order::Apart(9), ..usual };
        add(format!("sides-apart/ar{coefficient}"), campaigns, asked);
    }
    for (label, tails) in [("heavy-tails", Tails::Heavy), ("seldom-slow", Tails::Seldom)] {
        add(label.to_owned(), Campaigns { tails, ..usual }, Asked::Truth);
        add(format!("{label}-of-run"), Campaigns { tails, luck: Luck::OfRun, ..usual }, Asked::Truth);
        add(format!("{label}-apart"), Campaigns { tails, order: Order::Apart(9), ..usual }, Asked::Truth);
        add(
            format!("{label}-4-apart"),
            Campaigns { tails, order: Order::Apart(4), blocks: 25, ..usual },
            Asked::Truth,
        );
    }
    for (label, hung, asked) in [
        ("1-hung", Hung::Anywhere(1), Asked::Truth),
        ("3-hung", Hung::Anywhere(3), Asked::Truth),
        ("3-hung-of-one-side", Hung::OtherSide(3), Asked::Told),
    ] {
        add(label.to_owned(), Campaigns { hung, ..usual }, asked);
        add(format!("{label}-apart"), Campaigns { hung, order: Order::Apart(9), ..usual }, asked);
    }
    for spread in [0.0, 0.05] {
        let campaigns = Campaigns { spread, clock: Clock::Coarse, ..usual };
        add(format!("coarse-clock/{}", percent(spread)), campaigns, Asked::Truth);
    }
    rows
}

/// One cell differs, or all do.
fn found() -> Asks {
    let usual = Campaigns::EQUAL;
    let mut rows: Asks = Vec::new();
    for (label, spread, factor) in [("x1.25/5-percent", 0.05, 1.25), ("x2/30-percent", 0.3, 2.0)] {
        for (cells, differing) in [("one-cell", 1), ("all-cells", CELLS)] {
            let campaigns = Campaigns { spread, factor, differing, ..usual };
            rows.push((format!("compare/found/{label}/{cells}"), campaigns, Asked::Found));
        }
        let campaigns = Campaigns { spread, factor, differing: 1, luck: Luck::OfRun, ..usual };
        rows.push((format!("compare/found/{label}/of-run"), campaigns, Asked::Found));
        let campaigns = Campaigns { spread, factor, differing: 1, order: Order::Random, ..usual };
        rows.push((format!("compare/found/{label}/random-order"), campaigns, Asked::Found));
        let campaigns = Campaigns { spread, factor, differing: 1, order: Order::Apart(9), ..usual };
        rows.push((format!("compare/found/{label}/sides-apart"), campaigns, Asked::Found));
    }
    let doubled = Campaigns { spread: 0.05, factor: 2.0, differing: 1, ..usual };
    for (label, campaigns) in [
        ("heavy-tails", Campaigns { tails: Tails::Heavy, ..doubled }),
        ("seldom-slow", Campaigns { tails: Tails::Seldom, ..doubled }),
        ("1-hung", Campaigns { hung: Hung::Anywhere(1), ..doubled }),
        ("3-hung", Campaigns { hung: Hung::Anywhere(3), ..doubled }),
        ("coarse-clock", Campaigns { clock: Clock::Coarse, ..doubled }),
    ] {
        rows.push((format!("compare/found/x2/{label}"), campaigns, Asked::Truth));
    }
    rows
}

/// Nothing differs, or all cells do by just too much.
fn same() -> Asks {
    let mut rows: Asks = Vec::new();
    for (label, factor, differing) in [
        ("equal", 1.0, 0),
        ("just-not", 1.0 + SAME_WITHIN, CELLS),
        ("just-not-slower", 1.0 / (1.0 + SAME_WITHIN), CELLS),
    ] {
        for spread in [0.005, 0.02, 0.05] {
            for blocks in [9, 25] {
                let campaigns = Campaigns { spread, blocks, factor, differing, ..Campaigns::EQUAL };
                // Equal sides with a spread of 5 % are asked above.
                if differing > 0 || spread < 0.05 {
                    let name = format!("compare/same/{label}/{}/{blocks}", percent(spread));
                    rows.push((name, campaigns, Asked::Truth));
                }
            }
        }
    }
    rows
}

/// Equal sides, until half of each interval is so wide, or there is no more time.
fn precise() -> Asks {
    let usual = Campaigns { blocks: 63, order: Order::Random, ..Campaigns::EQUAL };
    let mut rows: Asks = Vec::new();
    let mut add = |label: &str, campaigns: Campaigns, precision: f64, cells: usize| {
        let of = if cells == 1 { "1-cell".to_owned() } else { format!("{cells}-cells") };
        let name = format!("compare/precise/{label}/{}/{of}", percent(precision));
        rows.push((name, campaigns, Asked::Precise(Precise { precision, cells })));
    };
    for cells in [1, CELLS] {
        for precision in [0.02, 0.05, 0.1] {
            add("5-percent", usual, precision, cells);
        }
        add("30-percent", Campaigns { spread: 0.3, ..usual }, 0.2, cells);
        add("5-percent-ar0.5", Campaigns { coefficient: 0.5, ..usual }, 0.05, cells);
        add(
            "5-percent-ar0.5-turned",
            Campaigns { coefficient: 0.5, order: Order::Interleaved, ..usual },
            0.05,
            cells,
        );
        add("heavy-tails", Campaigns { tails: Tails::Heavy, ..usual }, 0.05, cells);
        add("seldom-slow", Campaigns { tails: Tails::Seldom, ..usual }, 0.35, cells);
    }
    rows
}
