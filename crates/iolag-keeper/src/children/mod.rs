//! Children and what is left of them: forked, talked to, waited for, ended, looked at from outside.

pub(crate) mod adopted;
pub(crate) mod child;
pub(crate) mod evidence;
pub(crate) mod family;
pub(crate) mod messenger;
pub(crate) mod separation;
pub(crate) mod strays;
pub(crate) mod waiting;
