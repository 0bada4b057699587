//! Which attributes of hosts explain what takes too long: rows of tables, for text and page.

use iolag_analysis::history::{
    AttributeLevel, HOSTS_LEAST, HostRanking, RankedAttribute, RankingVerdict, Standing,
};
use iolag_analysis::joined;
use iolag_model::format_count;

use super::page::Page;
use crate::text::table::{Cell, ColumnGroup, Side, Table};
use crate::words::estimates::difference_in_words;
use crate::words::history::p_value;
use crate::words::numbers::{NOTHING, percentage};

/// What the tables of attributes say of themselves.
pub(crate) const HOSTS_EXPLANATION: &str = "a host is the unit: its share of attempts past their deadline; p by exchanging hosts, corrected for all attributes";

/// Names of the columns of attributes.
pub(crate) const HOST_COLUMNS: [&str; 9] = [
    "attribute",
    "value",
    "hosts",
    "share",
    "first − last, points",
    "explained",
    "p",
    "p beside the first",
    "",
];

impl Page<'_> {
    /// A table for each task whose hosts can be ranked, and a sentence for the others.
    pub(super) fn host_rankings_text(&self) -> String {
        self.analysis.host_rankings.iter().map(|ranking| self.host_ranking(ranking)).collect()
    }

    fn host_ranking(&self, ranking: &HostRanking) -> String {
        let heading = self.heading(&hosts_title(ranking), HOSTS_EXPLANATION);
        if let Some(refused) = refusal(ranking) {
            return heading + &self.item(2, &refused);
        }
        let sides = [0, 0, 1, 1, 1, 1, 1, 1, 0].map(|side| if side == 0 { Side::Left } else { Side::Right });
        let names = HOST_COLUMNS.into_iter().zip(sides).map(|(name, side)| (name.into(), side)).collect();
        let mut table = Table::new(vec![ColumnGroup { title: String::new(), columns: names }]);
        for row in ranking.attributes.iter().flat_map(attribute_rows) {
            table.row(row.into_iter().map(Cell::new).collect());
        }
        heading
            + &table.render(self.colour)
            + &of_one_host(ranking).map_or_else(String::new, |told| self.item(2, &told))
    }
}

pub(crate) fn hosts_title(ranking: &HostRanking) -> String {
    format!("What explains that {} on {} takes too long", ranking.task, ranking.target)
}

/// Why attributes are not ranked; `None` if they are.
pub(crate) fn refusal(ranking: &HostRanking) -> Option<String> {
    let hosts = format_count(ranking.hosts);
    match ranking.verdict {
        RankingVerdict::Ranked => None,
        RankingVerdict::TooFewHosts => Some(format!(
            "Of {hosts} hosts with known configuration nothing can be told that is more than chance: it takes {HOSTS_LEAST}."
        )),
        RankingVerdict::SharesAreEqual => {
            Some(format!("The same share of attempts takes too long on each of {hosts} hosts."))
        }
        RankingVerdict::NothingDiffers => {
            let told = of_one_host(ranking).map_or_else(String::new, |told| format!(" {told}"));
            Some(format!("No fact of their configurations divides the {hosts} hosts.{told}"))
        }
    }
}

/// What tells nothing because hardly two hosts share a value.
pub(crate) fn of_one_host(ranking: &HostRanking) -> Option<String> {
    let names = &ranking.of_one_host;
    let are = if names.len() == 1 { "has another value" } else { "have other values" };
    (!names.is_empty())
        .then(|| format!("{} {are} on almost every host, and cannot be judged.", joined(names.clone())))
}

/// A row for each level, the first with what is told of the attribute.
pub(crate) fn attribute_rows(one: &RankedAttribute) -> Vec<[String; 9]> {
    let level = |(place, level): (usize, &AttributeLevel)| {
        let is_first = place == 0;
        let first = |text: String| if is_first { text } else { String::new() };
        [
            first(joined(one.facts.clone())),
            level.values.join(", "),
            format_count(level.hosts),
            format!("{} %", percentage(100.0 * level.share)),
            first(one.difference.as_ref().map_or_else(|| NOTHING.to_owned(), difference_in_words)),
            first(format!("{} %", percentage(100.0 * one.explained))),
            first(p_value(one.p_adjusted)),
            first(one.p_beside_first.map_or_else(String::new, p_value)),
            first(
                match one.standing {
                    Standing::Explains => "explains a part",
                    Standing::GoesWithFirst => "comes with the first",
                    Standing::NotShown => "not shown",
                }
                .to_owned(),
            ),
        ]
    };
    one.levels.iter().enumerate().map(level).collect()
}
