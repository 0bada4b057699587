//! Rules for scripts: what a comparison must not show.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use iolag_model::Operation;

use crate::run::values::RunQuantity;
use crate::statistics::runs::log_range::LogRange;

/// As on the command line: `p95 > 1.1x`, `create rate < 0.9x`.
#[derive(Debug, Clone, PartialEq)]
pub struct FailRule {
    /// As it was typed.
    pub text: String,
    /// Of which operation; of all without it.
    pub operation: Option<Operation>,
    /// Of what.
    pub quantity: RunQuantity,
    /// On which side of the factor it is broken.
    pub beyond: Beyond,
    /// The other side's value by that of the base: 1.1.
    pub factor: f64,
}

/// On which side of a factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beyond {
    /// More.
    Above,
    /// Less.
    Below,
}

impl Beyond {
    const fn sign(self) -> char {
        match self {
            Self::Above => '>',
            Self::Below => '<',
        }
    }

    /// Below this a share of the base is no usual rule, but may be meant as a change: `rate < 10%`, `p95 > 10%`.
    const fn least_percent(self) -> f64 {
        match self {
            Self::Above => 100.0,
            Self::Below => 50.0,
        }
    }
}

/// In a form of its own, with the factor as one.
impl fmt::Display for FailRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operation = self.operation.map_or_else(String::new, |operation| format!("{operation} "));
        formatter.pad(&format!("{operation}{} {} {}x", self.quantity, self.beyond.sign(), self.factor))
    }
}

/// What is no rule, and why: one sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableRule(String);

impl fmt::Display for UnreadableRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

impl Error for UnreadableRule {}

impl FromStr for FailRule {
    type Err = UnreadableRule;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let no_rule = || {
            UnreadableRule(format!(
                "{text:?} is no rule: write [OPERATION] VALUE > FACTOR or < FACTOR, as in 'p95 > 1.1x' or 'create rate < 0.9x'"
            ))
        };
        let at = text.find(['<', '>']).ok_or_else(no_rule)?;
        let (what, limit) = (text[..at].trim(), text[at + 1..].trim());
        let beyond = if text[at..].starts_with('>') { Beyond::Above } else { Beyond::Below };
        let (operation, quantity) = match what.rsplit_once(char::is_whitespace) {
            None => (None, what),
            Some((operation, quantity)) => (Some(operation.trim()), quantity),
        };
        if quantity.is_empty() {
            return Err(no_rule());
        }
        let quantity: RunQuantity =
            quantity.parse().map_err(|error| UnreadableRule(format!("{text:?}: {error}")))?;
        let operation = operation.map(str::parse::<Operation>).transpose();
        let operation = operation.map_err(|error| UnreadableRule(format!("{text:?}: {error}")))?;
        let factor = match limit.strip_suffix('x') {
            Some(factor) => number(factor),
            None => match limit.strip_suffix('%').and_then(number) {
                Some(percent) => {
                    refuse_change(what, beyond, limit, percent)?;
                    Some(percent / 100.0)
                }
                None => None,
            },
        };
        let factor = factor.ok_or_else(no_rule)?;
        if factor <= 0.0 {
            return Err(UnreadableRule(format!(
                "{text:?}: no value is {limit} of another: write a factor above 0, as in 0.9x"
            )));
        }
        Ok(Self { text: text.to_owned(), operation, quantity, beyond, factor })
    }
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// Per cents are of the base, so 90 % of it is 10 % less: who writes 10 % or -10 % may mean the one or the other.
fn refuse_change(what: &str, beyond: Beyond, limit: &str, percent: f64) -> Result<(), UnreadableRule> {
    let has_sign = limit.starts_with(['+', '-']);
    if percent <= -100.0 || percent == 0.0 || !has_sign && percent >= beyond.least_percent() {
        return Ok(());
    }
    let is_less = percent < 0.0 || !has_sign && beyond == Beyond::Below;
    let amount = percent.abs();
    let (changed, change) = if is_less { (100.0 - amount, "less") } else { (100.0 + amount, "more") };
    let sign = beyond.sign();
    Err(UnreadableRule(format!(
        "'{what} {sign} {limit}' may be read in two ways: write {what} {sign} {}x if {amount} % {change} than the base is meant, or \
         {what} {sign} {}x if {amount} % of it is",
        changed / 100.0,
        amount / 100.0
    )))
}

/// What became of a rule in a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleOutcome {
    /// Which rule, by its place in [`super::super::table::ComparedTable::rules`].
    pub rule: usize,
    /// Which row, by its place.
    pub row: usize,
    /// Which of the others, by its place among the sides.
    pub side: usize,
    /// The logarithm of the other's value by that of the base.
    pub factor: LogRange,
    /// Its interval, which holds together with those of all rules; absent where there are too few runs.
    pub interval: Option<LogRange>,
    /// What became of it.
    pub judgement: RuleJudgement,
}

/// Whether a rule holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleJudgement {
    /// The interval lies on the right side.
    Kept,
    /// It lies beyond.
    Broken,
    /// It lies on both.
    CannotBeTold {
        /// About so many more runs of each side would tell, if that can be said.
        more: Option<u32>,
    },
}

#[cfg(test)]
mod tests {
    use iolag_model::Nanoseconds;
    use proptest::prelude::*;

    use super::*;

    fn parts(text: &str) -> (Option<Operation>, RunQuantity, Beyond, f64) {
        let rule: FailRule = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(rule.text, text.trim());
        (rule.operation, rule.quantity, rule.beyond, rule.factor)
    }

    #[test]
    fn rules_are_of_the_value_itself() {
        use RunQuantity::{Median, P95, Rate, ShareOver};
        assert_eq!(parts("p95 > 1.1x"), (None, P95, Beyond::Above, 1.1));
        assert_eq!(parts(" read rate<0.9x"), (Some(Operation::Read), Rate, Beyond::Below, 0.9));
        assert_eq!(parts("ls -l median > 150%"), (Some(Operation::TaskList), Median, Beyond::Above, 1.5));
        assert_eq!(parts("create 500 rate < 90 %"), (Some(Operation::TaskCreate), Rate, Beyond::Below, 0.9));
        let over = ShareOver(Nanoseconds::from_milliseconds(100));
        assert_eq!(parts("stat over:100ms > 2 x"), (Some(Operation::Stat), over, Beyond::Above, 2.0));
        // It must become faster: a rule as good as others.
        assert_eq!(parts("rate < 120%").3, 1.2);
    }

    #[test]
    fn what_may_be_read_in_two_ways_is_refused_with_both() {
        let refused = |text: &str| text.parse::<FailRule>().unwrap_err().to_string();
        assert_eq!(
            refused("rate < -10%"),
            "'rate < -10%' may be read in two ways: write rate < 0.9x if 10 % less than the base is meant, or \
             rate < 0.1x if 10 % of it is"
        );
        assert_eq!(
            refused("read p95 > 10%"),
            "'read p95 > 10%' may be read in two ways: write read p95 > 1.1x if 10 % more than the base is meant, or \
             read p95 > 0.1x if 10 % of it is"
        );
        for text in ["rate < 10%", "p95 > +10%", "rate > -5%", "rate < +20%"] {
            assert!(refused(text).contains("two ways"), "{text}: {}", refused(text));
        }
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        let none = [
            "",
            "p95",
            "p95 1.1x",
            "> 1.1x",
            "p95 >",
            "p95 > x",
            "p95 > 1.1",
            "p95 >= 1.1x",
            "p95 > NaNx",
            "p95 > infx",
            "p95 > 0x",
            "p95 > -1x",
            "p95 > 0%",
            "p95 > -200%",
            "mean > 1.1x",
            "over: > 1.1x",
            "over:0 > 2x",
            "fetch rate < 0.9x",
            "p95 > 1.1x rate",
            "p95 > inf%",
            "p95 > 1e999x",
        ];
        for text in none {
            let error = text.parse::<FailRule>().unwrap_err().to_string();
            assert!(error.len() > 20 && !error.contains('\n'), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_again(
            operation in prop::option::of(prop::sample::select(Operation::ALL)),
            quantity in prop_oneof![
                Just(RunQuantity::Rate),
                Just(RunQuantity::Median),
                Just(RunQuantity::P95),
                (1..100_000_u64).prop_map(|ms| RunQuantity::ShareOver(Nanoseconds::from_milliseconds(ms))),
                (1..u64::MAX).prop_map(|ns| RunQuantity::ShareOver(Nanoseconds(ns))),
            ],
            is_above in any::<bool>(),
            factor in 0.01_f64..100.0,
        ) {
            let beyond = if is_above { Beyond::Above } else { Beyond::Below };
            let rule = FailRule { text: String::new(), operation, quantity, beyond, factor };
            let shown = rule.to_string();
            let again: FailRule = shown.parse().unwrap();
            prop_assert_eq!(&again.text, &shown);
            prop_assert_eq!(FailRule { text: String::new(), ..again }, rule);
        }

        #[test]
        fn nothing_that_is_typed_does_harm(text in "[a-z5-9 :<>%x.+-]{0,24}") {
            if let Ok(rule) = text.parse::<FailRule>() {
                prop_assert!(rule.factor > 0.0 && rule.factor.is_finite());
            }
        }
    }
}
