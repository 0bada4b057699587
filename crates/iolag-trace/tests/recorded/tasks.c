// Tasks that share what they share. Recorded by record.sh.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void *thread(void *argument) {
    // In the directory and with the descriptors of all threads.
    int file = open("in-thread", O_CREAT | O_RDWR, 0600);
    chdir("deeper");
    (void)argument;
    return (void *)(long)file;
}

static int shares_descriptors(void *argument) {
    (void)argument;
    chdir("/");
    open("etc", O_RDONLY | O_DIRECTORY);
    return 0;
}

static int shares_directory(void *argument) {
    (void)argument;
    chdir("/usr");
    open("lib", O_RDONLY | O_DIRECTORY);
    return 7;
}

static int is_alone(void *argument) {
    struct stat status;
    (void)argument;
    unshare(CLONE_FILES | CLONE_FS);
    chdir("/var");
    stat("nothing", &status);
    return 0;
}

int main(int count, char **arguments) {
    struct stat status;
    if (count > 1) {
        // After execute: what was to be closed is.
        fstat(4, &status);
        stat("after-execute", &status);
        return 5;
    }
    mkdir("deeper", 0755);
    int kept = open("kept", O_CREAT | O_RDWR, 0600);
    int closed = open("closed", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    pthread_t one;
    void *file;
    pthread_create(&one, NULL, thread, NULL);
    pthread_join(one, &file);
    stat("after-thread", &status);
    fstat((int)(long)file, &status);
    char *stack = malloc(1 << 16);
    int child = clone(shares_descriptors, stack + (1 << 16), CLONE_FILES | SIGCHLD, NULL);
    waitpid(child, NULL, 0);
    stat("still-deeper", &status);
    fstat((int)(long)file + 1, &status);
    child = clone(is_alone, stack + (1 << 16), CLONE_FILES | CLONE_FS | SIGCHLD, NULL);
    waitpid(child, NULL, 0);
    stat("deeper-yet", &status);
    child = clone(shares_directory, stack + (1 << 16), CLONE_FS | SIGCHLD, NULL);
    waitpid(child, NULL, 0);
    stat("in-usr", &status);
    child = vfork();
    if (child == 0) {
        char *const words[] = {arguments[0], "again", NULL};
        execv(arguments[0], words);
        _exit(9);
    }
    waitpid(child, NULL, 0);
    child = fork();
    if (child == 0) {
        chdir("/");
        kill(getpid(), SIGKILL);
    }
    waitpid(child, NULL, 0);
    stat("at-the-end", &status);
    (void)kept, (void)closed;
    return 0;
}
