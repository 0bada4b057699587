//! What was once told is in the history, whatever happens to the history, to the watch and to its children.

mod beginnings;
mod histories;
mod kills;
mod restarts;
