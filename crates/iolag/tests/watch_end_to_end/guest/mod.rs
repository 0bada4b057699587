//! A watch is a guest: it stays small and out of the way, whatever the user's commands do.

mod commands;
mod guests;
