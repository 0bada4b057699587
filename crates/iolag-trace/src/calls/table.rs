//! The system calls that matter to a trace. A call that is not here is counted all the same.

use super::shape::{Effect, Shape};
use super::symbols::Group;

const fn path(number: u8) -> Shape {
    Shape::path(number)
}

const fn at(at: u8, path: u8) -> Shape {
    Shape::at(at, path)
}

const fn on(descriptor: u8) -> Shape {
    Shape::descriptor(descriptor)
}

const fn other() -> Shape {
    Shape::NONE.does(Effect::OpenOther)
}

/// A read or write at the position of the file.
const fn moving() -> Shape {
    on(0).length(2).does(Effect::Move)
}

/// A read or write that says where.
const fn placed() -> Shape {
    on(0).length(2).offset(3)
}

const fn fork() -> Shape {
    Shape::NONE.does(Effect::Fork)
}

/// On a socket, which may be told with whose address.
const fn speak() -> Shape {
    on(0).does(Effect::Speak)
}

/// In the order of their names.
#[rustfmt::skip]
const SHAPES: &[(&str, Shape)] = &[
    ("accept", other()),
    ("accept4", other()),
    ("access", path(0).argument(1, Group::Access)),
    ("acct", path(0)),
    ("bpf", other()),
    ("chdir", path(0).does(Effect::ChangeDirectory)),
    ("chmod", path(0).argument(1, Group::Mode).changes()),
    ("chown", path(0).changes()),
    ("chroot", path(0).does(Effect::ChangeView)),
    ("clone", fork()),
    ("clone2", fork()),
    ("clone3", fork()),
    ("close", on(0).does(Effect::Close)),
    ("close_range", Shape::NONE.offset(0).length(1).flags(2, Group::CloseRange).does(Effect::CloseRange)),
    ("connect", speak()),
    ("copy_file_range", on(0).length(4).changes()),
    ("creat", path(0).argument(1, Group::Mode).does(Effect::Open).changes()),
    ("dup", on(0).does(Effect::Duplicate)),
    ("dup2", on(0).does(Effect::Duplicate)),
    ("dup3", on(0).flags(2, Group::Open).does(Effect::Duplicate)),
    ("epoll_create", other()),
    ("epoll_create1", other()),
    ("eventfd", other()),
    ("eventfd2", other()),
    ("execve", path(0).does(Effect::Execute)),
    ("execveat", at(0, 1).flags(4, Group::At).does(Effect::Execute)),
    ("faccessat", at(0, 1).argument(2, Group::Access)),
    ("faccessat2", at(0, 1).argument(2, Group::Access).flags(3, Group::At)),
    ("fadvise64", on(0).offset(1).length(2)),
    ("fallocate", on(0).offset(2).length(3).changes()),
    ("fanotify_init", other()),
    ("fchdir", on(0).does(Effect::ChangeDirectoryTo)),
    ("fchmod", on(0).argument(1, Group::Mode).changes()),
    ("fchmodat", at(0, 1).argument(2, Group::Mode).changes()),
    ("fchmodat2", at(0, 1).argument(2, Group::Mode).flags(3, Group::At).changes()),
    ("fchown", on(0).changes()),
    ("fchownat", at(0, 1).flags(4, Group::At).changes()),
    ("fcntl", on(0).argument(1, Group::Control).does(Effect::Control)),
    ("fcntl64", on(0).argument(1, Group::Control).does(Effect::Control)),
    ("fdatasync", on(0)),
    ("fgetxattr", on(0).length(3)),
    ("flistxattr", on(0).length(2)),
    ("flock", on(0).does(Effect::Lock)),
    ("fork", fork()),
    ("fremovexattr", on(0).changes()),
    ("fsconfig", on(0)),
    ("fsetxattr", on(0).length(3).changes()),
    ("fsmount", other()),
    ("fsopen", other()),
    ("fstat", on(0).does(Effect::Attributes(1))),
    ("fstat64", on(0).does(Effect::Attributes(1))),
    ("fstatat64", at(0, 1).flags(3, Group::At).does(Effect::Attributes(2))),
    ("fstatfs", on(0)),
    ("fstatfs64", on(0)),
    ("fsync", on(0)),
    ("ftruncate", on(0).length(1).changes()),
    ("ftruncate64", on(0).length(1).changes()),
    ("futimesat", at(0, 1).changes()),
    ("getcwd", Shape::NONE.does(Effect::Tell(0))),
    ("getdents", on(0).length(2).does(Effect::List)),
    ("getdents64", on(0).length(2).does(Effect::List)),
    ("getxattr", path(0).length(3)),
    ("inotify_add_watch", path(1)),
    ("inotify_init", other()),
    ("inotify_init1", other()),
    ("io_uring_setup", other()),
    ("ioctl", on(0)),
    ("lchown", path(0).changes()),
    ("lgetxattr", path(0).length(3)),
    ("link", path(0).second(1).changes()),
    ("linkat", at(0, 1).second_at(2, 3).flags(4, Group::At).changes()),
    ("listxattr", path(0).length(2)),
    ("llistxattr", path(0).length(2)),
    ("lremovexattr", path(0).changes()),
    ("lseek", on(0).offset(1).argument(2, Group::Seek).does(Effect::Seek)),
    ("lsetxattr", path(0).length(3).changes()),
    ("lstat", path(0).does(Effect::Attributes(1))),
    ("lstat64", path(0).does(Effect::Attributes(1))),
    ("memfd_create", other()),
    ("mkdir", path(0).argument(1, Group::Mode).changes()),
    ("mkdirat", at(0, 1).argument(2, Group::Mode).changes()),
    ("mknod", path(0).argument(1, Group::Mode).changes()),
    ("mknodat", at(0, 1).argument(2, Group::Mode).changes()),
    ("mmap", on(4).length(1).argument(2, Group::Protection).offset(5)),
    ("mmap2", on(4).length(1).argument(2, Group::Protection).offset(5)),
    ("mount", path(1).changes()),
    ("name_to_handle_at", at(0, 1).flags(4, Group::At)),
    ("newfstatat", at(0, 1).flags(3, Group::At).does(Effect::Attributes(2))),
    ("open", path(0).flags(1, Group::Open).argument(2, Group::Mode).does(Effect::Open)),
    ("open_by_handle_at", other()),
    ("open_tree", at(0, 1).does(Effect::Open)),
    ("openat", at(0, 1).flags(2, Group::Open).argument(3, Group::Mode).does(Effect::Open)),
    ("openat2", at(0, 1).flags(2, Group::Open).argument(2, Group::Mode).does(Effect::Open)),
    ("perf_event_open", other()),
    ("pidfd_getfd", other()),
    ("pidfd_open", other()),
    ("pipe", Shape::NONE.does(Effect::Pair(0))),
    ("pipe2", Shape::NONE.flags(1, Group::Open).does(Effect::Pair(0))),
    ("pivot_root", path(0).second(1).does(Effect::ChangeView)),
    ("pread64", placed()),
    ("preadv", on(0).offset(3)),
    ("preadv2", on(0).offset(3)),
    ("pwrite64", placed().changes()),
    ("pwritev", on(0).offset(3).changes()),
    ("pwritev2", on(0).offset(3).changes()),
    ("quotactl", path(1)),
    ("read", moving()),
    ("readahead", on(0).offset(1).length(2)),
    ("readlink", path(0).length(2).does(Effect::Link(1))),
    ("readlinkat", at(0, 1).length(3).does(Effect::Link(2))),
    ("readv", on(0).does(Effect::Move)),
    ("recv", speak()),
    ("recvfrom", speak()),
    ("recvmmsg", speak()),
    ("recvmsg", speak()),
    ("removexattr", path(0).changes()),
    ("rename", path(0).second(1).does(Effect::Rename).changes()),
    ("renameat", at(0, 1).second_at(2, 3).does(Effect::Rename).changes()),
    ("renameat2", at(0, 1).second_at(2, 3).flags(4, Group::Rename).does(Effect::Rename).changes()),
    ("rmdir", path(0).changes()),
    ("send", speak()),
    ("sendfile", on(1).length(3)),
    ("sendfile64", on(1).length(3)),
    ("sendmmsg", speak()),
    ("sendmsg", speak()),
    ("sendto", speak()),
    ("setns", Shape::NONE.does(Effect::ChangeView)),
    ("setxattr", path(0).length(3).changes()),
    ("shutdown", speak()),
    ("signalfd", other()),
    ("signalfd4", other()),
    ("socket", other()),
    ("socketpair", Shape::NONE.does(Effect::Pair(3))),
    ("splice", on(0).length(4)),
    ("stat", path(0).does(Effect::Attributes(1))),
    ("stat64", path(0).does(Effect::Attributes(1))),
    ("statfs", path(0)),
    ("statfs64", path(0)),
    ("statx", at(0, 1).flags(2, Group::At).does(Effect::Attributes(4))),
    ("swapoff", path(0)),
    ("swapon", path(0)),
    ("symlink", path(1).second(0).does(Effect::MakeLink).changes()),
    ("symlinkat", at(1, 2).second(0).does(Effect::MakeLink).changes()),
    ("sync_file_range", on(0).offset(1).length(2)),
    ("syncfs", on(0)),
    ("timerfd_create", other()),
    ("truncate", path(0).length(1).changes()),
    ("truncate64", path(0).length(1).changes()),
    ("umount", path(0).changes()),
    ("umount2", path(0).changes()),
    ("unlink", path(0).changes()),
    ("unlinkat", at(0, 1).flags(2, Group::At).changes()),
    ("unshare", Shape::NONE.flags(0, Group::Clone).does(Effect::Unshare)),
    ("uselib", path(0)),
    ("userfaultfd", other()),
    ("utime", path(0).changes()),
    ("utimensat", at(0, 1).flags(3, Group::At).changes()),
    ("utimes", path(0).changes()),
    ("vfork", fork()),
    ("wait4", Shape::NONE.does(Effect::Wait)),
    ("waitid", Shape::NONE.does(Effect::WaitFor(2))),
    ("waitpid", Shape::NONE.does(Effect::Wait)),
    ("write", moving().changes()),
    ("writev", on(0).does(Effect::Move).changes()),
];

/// What is known of the call of this name.
pub(crate) fn shape_of(name: &[u8]) -> Shape {
    match SHAPES.binary_search_by(|(known, _)| known.as_bytes().cmp(name)) {
        Ok(place) => SHAPES[place].1,
        Err(_) => Shape::NONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_searched() {
        let disordered = SHAPES.windows(2).find(|pair| pair[0].0 >= pair[1].0);
        assert_eq!(disordered, None);
        for (name, shape) in SHAPES {
            assert_eq!(shape_of(name.as_bytes()), *shape);
        }
        assert_eq!(shape_of(b"brk"), Shape::NONE);
    }
}
