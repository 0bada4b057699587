//! The FUSE file system: every request passes the gate and is then executed on the backing directory.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fuser::{
    AccessFlags, BsdFileFlags, CopyFileRangeFlags, Errno, FileHandle, Filesystem, FopenFlags, Generation,
    INodeNo, IoctlFlags, LockOwner, OpenFlags, PollEvents, PollFlags, PollNotifier, RenameFlags, ReplyAttr,
    ReplyBmap, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyIoctl, ReplyLock,
    ReplyLseek, ReplyOpen, ReplyPoll, ReplyStatfs, ReplyWrite, ReplyXattr, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::{AtFlags, SeekFrom};
use rustix::io::Result;

use crate::fuse_gate::{Gate, Refuse};
use crate::fuse_rules::FuseCall;
use crate::passthrough::{Change, Passthrough};

/// The kernel is to keep neither names nor attributes: each call of a test reaches the gate.
const NOTHING_CACHED: Duration = Duration::ZERO;
const GENERATION: Generation = Generation(0);

pub(crate) struct FuseFilesystem {
    directory: Arc<Passthrough>,
    gate: Gate,
}

impl FuseFilesystem {
    pub fn new(directory: Passthrough, gate: Gate) -> Self {
        Self { directory: Arc::new(directory), gate }
    }

    /// Passes a request about `name`: executes `work`, then replies with `done` or with the error.
    fn pass<R: Refuse, T: Send + 'static>(
        &self,
        call: FuseCall,
        name: &OsStr,
        reply: R,
        work: impl FnOnce(&Passthrough) -> Result<T> + Send + 'static,
        done: impl FnOnce(R, T) + Send + 'static,
    ) {
        let directory = self.directory.clone();
        self.gate.pass(
            call,
            name,
            reply,
            move || work(&directory),
            move |reply: R, result| match result {
                Ok(value) => done(reply, value),
                Err(errno) => reply.refuse(Errno::from_i32(errno.raw_os_error())),
            },
        );
    }

    /// The same for a request about a node.
    fn pass_node<R: Refuse, T: Send + 'static>(
        &self,
        call: FuseCall,
        node: INodeNo,
        reply: R,
        work: impl FnOnce(&Passthrough) -> Result<T> + Send + 'static,
        done: impl FnOnce(R, T) + Send + 'static,
    ) {
        self.pass(call, &self.directory.name(node.0), reply, work, done);
    }

    /// A request that this file system does not know: the kernel will not ask again, but the first time may hang.
    fn pass_unknown<R: Refuse>(&self, call: FuseCall, node: INodeNo, reply: R) {
        self.pass_node(call, node, reply, |_| Err::<(), _>(rustix::io::Errno::NOSYS), |_, ()| {});
    }
}

fn entry(reply: ReplyEntry, attributes: fuser::FileAttr) {
    reply.entry(&NOTHING_CACHED, &attributes, GENERATION);
}

fn attr(reply: ReplyAttr, attributes: fuser::FileAttr) {
    reply.attr(&NOTHING_CACHED, &attributes);
}

fn ok(reply: ReplyEmpty, (): ()) {
    reply.ok();
}

fn opened(reply: ReplyOpen, handle: u64) {
    reply.opened(FileHandle(handle), FopenFlags::empty());
}

fn owned(name: &OsStr) -> OsString {
    name.to_owned()
}

impl Filesystem for FuseFilesystem {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let wanted = owned(name);
        self.pass(FuseCall::Lookup, name, reply, move |fs| fs.lookup(parent.0, &wanted), entry);
    }

    fn forget(&self, _: &Request, node: INodeNo, count: u64) {
        self.directory.forget(node.0, count);
    }

    fn getattr(&self, _: &Request, node: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        self.pass_node(FuseCall::Getattr, node, reply, move |fs| fs.stat(node.0), attr);
    }

    fn setattr(
        &self,
        _: &Request,
        node: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        accessed: Option<TimeOrNow>,
        modified: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let change = Change { mode, uid, gid, size, accessed, modified };
        self.pass_node(FuseCall::Setattr, node, reply, move |fs| fs.change(node.0, &change), attr);
    }

    fn access(&self, _: &Request, node: INodeNo, _: AccessFlags, reply: ReplyEmpty) {
        // The kernel checks permissions itself (default_permissions); this only answers that the node is there.
        self.pass_node(FuseCall::Access, node, reply, move |fs| fs.stat(node.0).map(|_| ()), ok);
    }

    fn readlink(&self, _: &Request, node: INodeNo, reply: ReplyData) {
        let work = move |fs: &Passthrough| fs.readlink(node.0);
        self.pass_node(FuseCall::Readlink, node, reply, work, |reply, target| reply.data(&target));
    }

    fn symlink(&self, request: &Request, parent: INodeNo, name: &OsStr, target: &Path, reply: ReplyEntry) {
        let (wanted, target, uid, gid) = (owned(name), target.to_owned(), request.uid(), request.gid());
        let work = move |fs: &Passthrough| {
            // A symbolic link's owner matters to nobody; the kernel's answer needs the right one all the same.
            fs.symlink(parent.0, &wanted, &target).and_then(|made| fs.give(made, uid, gid))
        };
        self.pass(FuseCall::Symlink, name, reply, work, entry);
    }

    fn link(&self, _: &Request, node: INodeNo, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let wanted = owned(name);
        self.pass(FuseCall::Link, name, reply, move |fs| fs.link(node.0, parent.0, &wanted), entry);
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        device: u32,
        reply: ReplyEntry,
    ) {
        let (wanted, uid, gid) = (owned(name), request.uid(), request.gid());
        let work = move |fs: &Passthrough| {
            fs.make_node(parent.0, &wanted, mode, device).and_then(|made| fs.give(made, uid, gid))
        };
        self.pass(FuseCall::Mknod, name, reply, work, entry);
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        reply: ReplyEntry,
    ) {
        let (wanted, uid, gid) = (owned(name), request.uid(), request.gid());
        let work = move |fs: &Passthrough| {
            fs.make_directory(parent.0, &wanted, mode).and_then(|made| fs.give(made, uid, gid))
        };
        self.pass(FuseCall::Mkdir, name, reply, work, entry);
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let wanted = owned(name);
        let work = move |fs: &Passthrough| fs.remove(parent.0, &wanted, AtFlags::empty());
        self.pass(FuseCall::Unlink, name, reply, work, ok);
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let wanted = owned(name);
        let work = move |fs: &Passthrough| fs.remove(parent.0, &wanted, AtFlags::REMOVEDIR);
        self.pass(FuseCall::Rmdir, name, reply, work, ok);
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let (from, to) = (owned(name), owned(new_name));
        let flags = rustix::fs::RenameFlags::from_bits_retain(flags.bits());
        let work = move |fs: &Passthrough| fs.rename((parent.0, &from), (new_parent.0, &to), flags);
        self.pass(FuseCall::Rename, name, reply, work, ok);
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let (wanted, uid, gid) = (owned(name), request.uid(), request.gid());
        let work = move |fs: &Passthrough| {
            let (made, handle) = fs.create(parent.0, &wanted, mode, flags)?;
            Ok((fs.give(made, uid, gid)?, handle))
        };
        self.pass(FuseCall::Create, name, reply, work, |reply, (made, handle)| {
            reply.created(&NOTHING_CACHED, &made, GENERATION, FileHandle(handle), FopenFlags::empty());
        });
    }

    fn open(&self, _: &Request, node: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        self.pass_node(FuseCall::Open, node, reply, move |fs| fs.open(node.0, flags.0), opened);
    }

    fn read(
        &self,
        _: &Request,
        node: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let work = move |fs: &Passthrough| {
            let mut buffer = vec![0_u8; size as usize];
            let read = rustix::io::pread(&fs.handle(handle.0)?.descriptor, &mut buffer, offset)?;
            buffer.truncate(read);
            Ok(buffer)
        };
        self.pass_node(FuseCall::Read, node, reply, work, |reply, data| reply.data(&data));
    }

    fn write(
        &self,
        _: &Request,
        node: INodeNo,
        handle: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let data = data.to_vec();
        let work =
            move |fs: &Passthrough| rustix::io::pwrite(&fs.handle(handle.0)?.descriptor, &data, offset);
        self.pass_node(FuseCall::Write, node, reply, work, |reply, written| reply.written(written as u32));
    }

    fn flush(&self, _: &Request, node: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        self.pass_node(FuseCall::Flush, node, reply, |_| Ok(()), ok);
    }

    fn fsync(&self, _: &Request, node: INodeNo, handle: FileHandle, data_only: bool, reply: ReplyEmpty) {
        let work = move |fs: &Passthrough| {
            let handle = fs.handle(handle.0)?;
            if data_only {
                rustix::fs::fdatasync(&handle.descriptor)
            } else {
                rustix::fs::fsync(&handle.descriptor)
            }
        };
        self.pass_node(FuseCall::Fsync, node, reply, work, ok);
    }

    fn release(
        &self,
        _: &Request,
        node: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        let work = move |fs: &Passthrough| {
            fs.close(handle.0);
            Ok(())
        };
        self.pass_node(FuseCall::Release, node, reply, work, ok);
    }

    fn fallocate(
        &self,
        _: &Request,
        node: INodeNo,
        handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let flags = rustix::fs::FallocateFlags::from_bits_retain(mode as u32);
        let work = move |fs: &Passthrough| {
            rustix::fs::fallocate(&fs.handle(handle.0)?.descriptor, flags, offset, length)
        };
        self.pass_node(FuseCall::Fallocate, node, reply, work, ok);
    }

    fn lseek(
        &self,
        _: &Request,
        node: INodeNo,
        handle: FileHandle,
        offset: i64,
        whence: i32,
        reply: ReplyLseek,
    ) {
        // The kernel asks only for what it cannot know: the next data (3) and the next hole (4).
        let work = move |fs: &Passthrough| {
            let offset = u64::try_from(offset).map_err(|_| rustix::io::Errno::INVAL)?;
            let position = match whence {
                3 => SeekFrom::Data(offset),
                4 => SeekFrom::Hole(offset),
                _ => return Err(rustix::io::Errno::INVAL),
            };
            rustix::fs::seek(&fs.handle(handle.0)?.descriptor, position)
        };
        self.pass_node(FuseCall::Lseek, node, reply, work, |reply, position| reply.offset(position as i64));
    }

    fn opendir(&self, _: &Request, node: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        self.pass_node(FuseCall::Opendir, node, reply, move |fs| fs.open(node.0, flags.0), opened);
    }

    fn readdir(&self, _: &Request, node: INodeNo, handle: FileHandle, offset: u64, reply: ReplyDirectory) {
        let work = move |fs: &Passthrough| fs.entries(handle.0, offset == 0);
        self.pass_node(FuseCall::Readdir, node, reply, work, move |mut reply, entries| {
            for (index, entry) in (1_u64..).zip(entries.iter()).skip(offset as usize) {
                if reply.add(INodeNo(entry.node), index, entry.kind, &entry.name) {
                    break;
                }
            }
            reply.ok();
        });
    }

    fn fsyncdir(&self, _: &Request, node: INodeNo, handle: FileHandle, _: bool, reply: ReplyEmpty) {
        let work = move |fs: &Passthrough| rustix::fs::fsync(&fs.handle(handle.0)?.descriptor);
        self.pass_node(FuseCall::Fsyncdir, node, reply, work, ok);
    }

    fn releasedir(&self, _: &Request, node: INodeNo, handle: FileHandle, _: OpenFlags, reply: ReplyEmpty) {
        let work = move |fs: &Passthrough| {
            fs.close(handle.0);
            Ok(())
        };
        self.pass_node(FuseCall::Releasedir, node, reply, work, ok);
    }

    fn statfs(&self, _: &Request, node: INodeNo, reply: ReplyStatfs) {
        self.pass_node(
            FuseCall::Statfs,
            node,
            reply,
            |fs| fs.file_system(),
            |reply, found| {
                reply.statfs(
                    found.f_blocks,
                    found.f_bfree,
                    found.f_bavail,
                    found.f_files,
                    found.f_ffree,
                    found.f_bsize as u32,
                    found.f_namelen as u32,
                    found.f_frsize as u32,
                );
            },
        );
    }

    fn setxattr(&self, _: &Request, node: INodeNo, _: &OsStr, _: &[u8], _: i32, _: u32, reply: ReplyEmpty) {
        self.pass_unknown(FuseCall::Xattr, node, reply);
    }

    fn getxattr(&self, _: &Request, node: INodeNo, _: &OsStr, _: u32, reply: ReplyXattr) {
        self.pass_unknown(FuseCall::Xattr, node, reply);
    }

    fn listxattr(&self, _: &Request, node: INodeNo, _: u32, reply: ReplyXattr) {
        self.pass_unknown(FuseCall::Xattr, node, reply);
    }

    fn removexattr(&self, _: &Request, node: INodeNo, _: &OsStr, reply: ReplyEmpty) {
        self.pass_unknown(FuseCall::Xattr, node, reply);
    }

    fn getlk(
        &self,
        _: &Request,
        node: INodeNo,
        _: FileHandle,
        _: LockOwner,
        _: u64,
        _: u64,
        _: i32,
        _: u32,
        reply: ReplyLock,
    ) {
        self.pass_unknown(FuseCall::Other, node, reply);
    }

    fn setlk(
        &self,
        _: &Request,
        node: INodeNo,
        _: FileHandle,
        _: LockOwner,
        _: u64,
        _: u64,
        _: i32,
        _: u32,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.pass_unknown(FuseCall::Other, node, reply);
    }

    fn bmap(&self, _: &Request, node: INodeNo, _: u32, _: u64, reply: ReplyBmap) {
        self.pass_unknown(FuseCall::Other, node, reply);
    }

    fn ioctl(
        &self,
        _: &Request,
        node: INodeNo,
        _: FileHandle,
        _: IoctlFlags,
        _: u32,
        _: &[u8],
        _: u32,
        reply: ReplyIoctl,
    ) {
        self.pass_unknown(FuseCall::Other, node, reply);
    }

    fn poll(
        &self,
        _: &Request,
        node: INodeNo,
        _: FileHandle,
        _: PollNotifier,
        _: PollEvents,
        _: PollFlags,
        reply: ReplyPoll,
    ) {
        self.pass_unknown(FuseCall::Other, node, reply);
    }

    fn copy_file_range(
        &self,
        _: &Request,
        node: INodeNo,
        _: FileHandle,
        _: u64,
        _: INodeNo,
        _: FileHandle,
        _: u64,
        _: u64,
        _: CopyFileRangeFlags,
        reply: ReplyWrite,
    ) {
        self.pass_unknown(FuseCall::Other, node, reply);
    }
}
