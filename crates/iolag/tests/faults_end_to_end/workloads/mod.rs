//! Benches on storage that is slow, full or hung in a way that is known.

mod bystanders;
mod plans;
mod replays;
mod set_up;
mod streams;
mod trees;
mod unmounted;

/// This thread, and what it starts from now on, runs before whatever else the machine has to do, if that may be asked for: a server that serves for a
/// millisecond each has to be woken in time.
fn go_first() {
    let first = libc::sched_param { sched_priority: 1 };
    // SAFETY: the parameters outlive the call. Refused to who may not; then the machine has to be quiet.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_RR, &first) };
}
