//! Values of trees as they are typed.

use iolag_model::Phase;

use super::by_name;

by_name!(parse_tree_phase, Phase, &[Phase::Stat, Phase::Sum, Phase::Combined]);
