#!/bin/sh
# Records the texts again: sh record.sh. Numbers of tasks, times and the order of tasks differ from time to time; expectations do not.
set -e
here=$(cd "$(dirname "$0")" && pwd)
place=/tmp/traced
# The last three change what descriptors and paths mean, and are in none of the groups.
calls=%file,%desc,%process,close_range,unshare,setns
exec < /dev/null > /dev/null
rm -rf $place && mkdir -p $place && cd $place
cp "$here/script.sh" .
cc -static -O1 -w -o names "$here/names.c"
cc -static -O1 -w -o tasks "$here/tasks.c" -lpthread
clean='env -i LC_ALL=C PATH=/usr/bin:/bin'
raw=read,write,pread64,pwrite64
fresh() { rm -rf work && mkdir -p work/share && cd work; }
finished() { cd $place; }
fresh; strace -f -ttt -T -y -s 64 -C -e trace=$calls -o "$here/names-y.strace" ../names 2> /dev/null; finished
fresh; strace -f --absolute-timestamps=unix,ns --syscall-times=ns -s 0 -e trace=$calls -e raw=$raw -e verbose='!execve' -o "$here/names-raw.strace" ../names 2> /dev/null; finished
fresh; strace -f -tt -s 8 -e trace=$calls -o "$here/names-tt.strace" ../names 2> /dev/null; finished
fresh; strace -f -r -T -s 8 -x -e trace=$calls -o "$here/names-r.strace" ../names 2> /dev/null; finished
fresh; strace -f -ttt -T -y -s 8 -C -e trace=$calls -o "$here/tasks-y.strace" $place/tasks || true; finished
fresh; strace -f -ttt -T -s 8 -e trace=$calls -e raw=$raw -o "$here/tasks-raw.strace" $place/tasks || true; finished
fresh; strace -f -t -e trace=$calls $place/tasks 2> "$here/tasks-stderr.strace" || true; finished
fresh; strace -ff -ttt -T -s 8 -e trace=$calls -o $place/each $place/tasks || true; finished
for file in each.*; do sed "s/^/${file#each.} /" "$file"; done | sort -s -k2,2 > "$here/tasks-each.strace"
fresh; $clean strace -f -ttt -T -y -s 8 -C -e trace=$calls -o "$here/script-y.strace" /bin/sh ../script.sh > /dev/null 2> /dev/null; finished
fresh; $clean strace -f -ttt -T -s 8 -C -e trace=$calls -e raw=$raw -o "$here/script-raw.strace" /bin/sh ../script.sh > /dev/null 2> /dev/null; finished
rm -rf $place
