//! A system call as the kernel takes it: a number and its arguments, so that nothing is decided, and no function left, between the two readings of the clock.
//!
//! To return from a function in which the kernel was entered takes some 0.2 µs, which would be told as the call's, and a jump by a table tens of ns: the processor has
//! forgotten then where both lead.

use std::ffi::{CStr, c_long};
use std::marker::PhantomData;
use std::os::fd::RawFd;

use iolag_backend::Completion;
use iolag_model::FailureCode;

/// The kernel gives up an opening below a directory where somebody renames meanwhile, and is asked again so often.
const ATTEMPTS: u32 = 100;
const AGAIN: isize = -(libc::EAGAIN as isize);

/// One system call.
#[derive(Debug, Clone, Copy)]
pub(super) struct SystemCall<'a> {
    number: c_long,
    arguments: [usize; 6],
    gives: Gives,
    /// Whose paths and buffers the arguments point to.
    memory: PhantomData<&'a CStr>,
}

/// What comes back if it succeeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gives {
    Nothing,
    Bytes,
    Descriptor,
    /// Of so many bytes as the second argument says.
    Mapping,
}

/// What came back, and what it left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer {
    pub completion: Completion,
    /// A new descriptor.
    pub opened: Option<RawFd>,
    /// A new mapping: where, and how long.
    pub mapping: Option<(usize, usize)>,
}

impl SystemCall<'_> {
    /// The call with this number.
    ///
    /// # Safety
    /// To make it at any time of the lifetime must be sound: pointers among the arguments lead to what the kernel may read and write then.
    #[inline(always)]
    pub(super) unsafe fn new<const N: usize>(number: c_long, given: [usize; N], gives: Gives) -> Self {
        const { assert!(N <= 6) };
        let mut arguments = [0; 6];
        arguments[..N].copy_from_slice(&given);
        Self { number, arguments, gives, memory: PhantomData }
    }

    /// Makes it: what the kernel says, below zero the number of an error.
    #[inline(always)]
    pub(super) fn make(&self) -> isize {
        let mut attempts = 1;
        loop {
            // SAFETY: as who made it promised.
            let came = unsafe { enter(self.number, self.arguments) };
            if came != AGAIN || self.number != libc::SYS_openat2 || attempts == ATTEMPTS {
                return came;
            }
            attempts += 1;
        }
    }

    /// What that means.
    #[inline]
    pub(super) fn answer(&self, came: isize) -> Answer {
        let done = |bytes| Answer { completion: Completion::ok(bytes), opened: None, mapping: None };
        match (came, self.gives) {
            // Errors are the last page of numbers, and addresses may be below zero.
            (-4095..0, _) => {
                let code = FailureCode::from_errno(-came as i32);
                Answer { completion: Completion::failed(code), ..done(0) }
            }
            (_, Gives::Nothing) => done(0),
            (bytes, Gives::Bytes) => done(bytes as u64),
            (new, Gives::Descriptor) => Answer { opened: Some(new as RawFd), ..done(0) },
            (address, Gives::Mapping) => {
                Answer { mapping: Some((address.cast_unsigned(), self.arguments[1])), ..done(0) }
            }
        }
    }
}

/// As an argument.
#[inline(always)]
pub(super) fn on(descriptor: RawFd) -> usize {
    descriptor as isize as usize
}

/// As an argument.
#[inline(always)]
pub(super) fn named(path: &CStr) -> usize {
    path.as_ptr().expose_provenance()
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn enter(number: c_long, arguments: [usize; 6]) -> isize {
    let came;
    // SAFETY: the convention of the kernel (syscall(2)); as the caller promises.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => came,
            in("rdi") arguments[0],
            in("rsi") arguments[1],
            in("rdx") arguments[2],
            in("r10") arguments[3],
            in("r8") arguments[4],
            in("r9") arguments[5],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack, preserves_flags)
        );
    }
    came
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
unsafe fn enter(number: c_long, arguments: [usize; 6]) -> isize {
    let came;
    // SAFETY: the convention of the kernel (syscall(2)); as the caller promises.
    unsafe {
        std::arch::asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") arguments[0] => came,
            in("x1") arguments[1],
            in("x2") arguments[2],
            in("x3") arguments[3],
            in("x4") arguments[4],
            in("x5") arguments[5],
            options(nostack, preserves_flags)
        );
    }
    came
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe fn enter(number: c_long, arguments: [usize; 6]) -> isize {
    let [first, second, third, fourth, fifth, sixth] = arguments;
    // SAFETY: as the caller promises.
    match unsafe { libc::syscall(number, first, second, third, fourth, fifth, sixth) } {
        -1 => -(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO) as isize),
        came => came as isize,
    }
}

/// Closes what a call of a repetition has opened.
pub(super) fn close(descriptor: RawFd) {
    // SAFETY: descriptors of a repetition are nobody else's.
    unsafe { libc::close(descriptor) };
}

/// Takes back a mapping.
pub(super) fn unmap((address, length): (usize, usize)) {
    // SAFETY: it was made by a call of a repetition, and nobody looks into it.
    unsafe { libc::munmap(std::ptr::with_exposed_provenance_mut(address), length) };
}
