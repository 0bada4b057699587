// Names and descriptors of every awkward kind. Recorded by record.sh.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

int main(void) {
    static const char *const names[] = {"d/a\nb", "d/q\"uo'te", "d/\xff\xfe", "d/a>b<c", "d/back\\slash", "d/ <unfinished ...>",
                                        "d/comma, (bracket)", "d/0\0019"};
    char bytes[64];
    mkdir("d", 0755);
    for (unsigned at = 0; at < sizeof names / sizeof *names; at++) {
        int file = open(names[at], O_CREAT | O_RDWR | O_CLOEXEC, 0640);
        write(file, "secret-data", 11);
        pread(file, bytes, 4, 2);
        unlink(names[at]);
        write(file, "x", 1);
        close(file);
    }
    int d = open("d", O_RDONLY | O_DIRECTORY);
    mkdir("d/sub", 0777);
    fchdir(d);
    struct stat status;
    stat("sub/none", &status);
    int sub = open("sub", O_RDONLY | O_DIRECTORY);
    rename("../d", "../e");
    char here[256];
    getcwd(here, sizeof here);
    int x = openat(sub, "x", O_CREAT | O_WRONLY, 0600);
    int y = dup(x);
    dup2(y, 77);
    close(x);
    write(77, "abc", 3);
    lseek(77, -1, SEEK_CUR);
    write(y, "secret-data", 11);
    ftruncate(77, 100);
    fcntl(77, F_SETFD, FD_CLOEXEC);
    symlink("x", "sub/link");
    readlink("sub/link", bytes, sizeof bytes);
    lstat("sub/link", &status);
    stat("sub/link", &status);
    fstat(77, &status);
    fstatat(sub, "", &status, AT_EMPTY_PATH);
    struct statx more;
    statx(AT_FDCWD, "sub/x", AT_SYMLINK_NOFOLLOW, STATX_ALL, &more);
    syscall(SYS_getdents64, sub, bytes, sizeof bytes);
    access("sub", R_OK | X_OK);
    setxattr("sub/x", "user.a", "secret-value", 12, 0);
    link("sub/x", "sub/y");
    chmod("sub/x", 0640);
    truncate("sub/x", 5);
    int p[2];
    pipe(p);
    write(p[1], "secret-data", 11);
    read(p[0], bytes, sizeof bytes);
    close_range(3, 70, 0);
    write(77, "z", 1);
    unlinkat(AT_FDCWD, "sub/y", 0);
    char *const arguments[] = {"true", "secret-argument", NULL}, *const environment[] = {"SECRET=secret-environment", NULL};
    execve("/nowhere/true", arguments, environment);
    execve("/bin/true", arguments, environment);
    return 1;
}
