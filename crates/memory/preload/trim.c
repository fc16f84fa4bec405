/*
 * libassay_trim.so: gives memory that a program has freed back to the kernel, on any JDK, by malloc_trim(0) of glibc.
 *
 * Preloaded: LD_PRELOAD=/usr/lib/assay/libassay_trim.so java ...
 *
 *   ASSAY_TRIM_PERIOD_MS   trim every so many milliseconds (at least 100); 30000 where neither is set, 0: never
 *   ASSAY_TRIM_AFTER_MIB   trim when so many MiB were freed since the last trim, at most ten times in a second
 *   ASSAY_TRIM_PROGRAM     act in programs of this name alone, `*` for all; without it `java`
 *
 * What keeps it safe in a program that it does not know:
 * - It does nothing in other programs than the named one, and where free() is not that of glibc (jemalloc, tcmalloc, musl).
 * - free() is the only function that it wraps. The wrapper calls nothing that allocates; it counts in a variable of its thread, and wakes
 *   the thread that trims by a system call. Without ASSAY_TRIM_AFTER_MIB it only passes the call on.
 * - The trimming thread allocates nothing, blocks all signals, and has a small stack. A child of fork() has no such thread and does not trim;
 *   a program that is started by exec() begins anew.
 * - It needs no library beside the program's own: every function of another library is a weak reference, and one that is absent switches
 *   it off. So it also loads where the C library has no malloc_trim.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_MS_DEFAULT 30000u
#define PERIOD_MS_MIN 100u
/* Bytes that a thread frees before it adds them to the sum of all: threads do not meet at each call. */
#define BATCH_BYTES (64u << 10)
#define STACK_BYTES (128u << 10)

extern int malloc_trim(size_t pad) __attribute__((weak));
extern size_t malloc_usable_size(void *block) __attribute__((weak));
extern void __libc_free(void *block) __attribute__((weak));
extern void *dlsym(void *handle, const char *name) __attribute__((weak));
extern int dladdr(const void *address, Dl_info *info) __attribute__((weak));
extern int pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) __attribute__((weak));
extern int pthread_attr_init(pthread_attr_t *) __attribute__((weak));
extern int pthread_attr_destroy(pthread_attr_t *) __attribute__((weak));
extern int pthread_attr_setstacksize(pthread_attr_t *, size_t) __attribute__((weak));
extern int pthread_attr_setdetachstate(pthread_attr_t *, int) __attribute__((weak));
extern int pthread_sigmask(int, const sigset_t *, sigset_t *) __attribute__((weak));
extern int prctl(int option, ...) __attribute__((weak));
extern char *program_invocation_short_name __attribute__((weak));

static void (*_Atomic next_free)(void *);
static atomic_bool is_resolving;
/* 0: frees are not counted. */
static atomic_ullong after_bytes;
static atomic_ullong freed_bytes;
/* A word to wait for: raised when enough was freed. */
static atomic_int is_wanted;
static unsigned long period_ms;
static __thread size_t freed_here __attribute__((tls_model("initial-exec")));

static void wake(void)
{
    atomic_store(&is_wanted, 1);
    syscall(SYS_futex, &is_wanted, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* The free() behind this one; null while it is being looked up, which may itself free. */
static void (*resolve(void))(void *)
{
    void (*next)(void *) = NULL;
    if (dlsym == NULL) {
        /* glibc before 2.34, in a program that loads no other library: its own is the only free(). */
        next = __libc_free;
    } else if (atomic_exchange(&is_resolving, 1)) {
        return NULL;
    } else {
        void *found = dlsym(RTLD_NEXT, "free");
        memcpy(&next, &found, sizeof next);
    }
    atomic_store(&next_free, next);
    return next;
}

void free(void *block)
{
    void (*next)(void *) = atomic_load_explicit(&next_free, memory_order_acquire);
    if (next == NULL && (next = resolve()) == NULL) {
        /* A few bytes of the loader's own: they are lost. */
        return;
    }
    unsigned long long after = atomic_load_explicit(&after_bytes, memory_order_relaxed);
    if (after != 0 && block != NULL) {
        freed_here += malloc_usable_size(block);
        if (BATCH_BYTES <= freed_here) {
            unsigned long long before = atomic_fetch_add(&freed_bytes, freed_here);
            int is_reached = before < after && after <= before + freed_here;
            freed_here = 0;
            next(block);
            if (is_reached) {
                int error = errno;
                wake();
                errno = error;
            }
            return;
        }
    }
    next(block);
}

static void pause_ms(unsigned long ms)
{
    struct timespec time = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL);
}

static void *trim(void *nothing)
{
    struct timespec period = {.tv_sec = (time_t)(period_ms / 1000), .tv_nsec = (long)(period_ms % 1000) * 1000000};
    if (prctl != NULL) {
        prctl(15 /* PR_SET_NAME */, "assay-trim", 0, 0, 0);
    }
    for (;;) {
        /* Returns when enough was freed, when the time is over, or for no reason: the sum says which. */
        syscall(SYS_futex, &is_wanted, FUTEX_WAIT_PRIVATE, 0, period_ms == 0 ? NULL : &period, NULL, 0);
        int is_reached = atomic_exchange(&is_wanted, 0);
        if (is_reached || period_ms != 0) {
            atomic_store(&freed_bytes, 0);
            malloc_trim(0);
        }
        if (is_reached) {
            pause_ms(PERIOD_MS_MIN);
        }
    }
    return nothing;
}

/* A number of the environment; the default where it is absent or not a number. */
static unsigned long number_of(char *const *environment, const char *name, unsigned long otherwise)
{
    size_t length = strlen(name);
    for (; *environment != NULL; environment++) {
        if (strncmp(*environment, name, length) != 0 || (*environment)[length] != '=') {
            continue;
        }
        unsigned long number = 0;
        const char *digit = *environment + length + 1;
        if (*digit == 0) {
            return otherwise;
        }
        for (; *digit != 0; digit++) {
            if (*digit < '0' || '9' < *digit || ULONG_MAX / 20 < number) {
                return otherwise;
            }
            number = number * 10 + (unsigned long)(*digit - '0');
        }
        return number;
    }
    return otherwise;
}

static int is_meant(char *const *environment)
{
    static const char name[] = "ASSAY_TRIM_PROGRAM=";
    const char *wanted = "java";
    for (; *environment != NULL; environment++) {
        if (strncmp(*environment, name, sizeof name - 1) == 0) {
            wanted = *environment + sizeof name - 1;
        }
    }
    if (strcmp(wanted, "*") == 0) {
        return 1;
    }
    return &program_invocation_short_name != NULL && strcmp(wanted, program_invocation_short_name) == 0;
}

/* Whether the program's blocks come from glibc, and not from another allocator that is preloaded or linked in. */
static int is_of_c_library(void)
{
    Dl_info of_malloc, of_trim;
    if (dladdr == NULL || dlsym == NULL) {
        return 0;
    }
    return dladdr(dlsym(RTLD_DEFAULT, "malloc"), &of_malloc) != 0 && dladdr((void *)(uintptr_t)malloc_trim, &of_trim) != 0 &&
           of_malloc.dli_fbase == of_trim.dli_fbase;
}

__attribute__((constructor)) static void start(int count, char **arguments, char **environment)
{
    (void)count, (void)arguments;
    void (*next)(void *) = atomic_load(&next_free);
    if (next == NULL) {
        next = resolve();
    }
    if (next == NULL || environment == NULL || malloc_trim == NULL || malloc_usable_size == NULL || pthread_create == NULL ||
        pthread_attr_init == NULL || pthread_sigmask == NULL || !is_meant(environment) || !is_of_c_library()) {
        return;
    }
    unsigned long mib = number_of(environment, "ASSAY_TRIM_AFTER_MIB", 0);
    period_ms = number_of(environment, "ASSAY_TRIM_PERIOD_MS", mib == 0 ? PERIOD_MS_DEFAULT : 0);
    if (period_ms != 0 && period_ms < PERIOD_MS_MIN) {
        period_ms = PERIOD_MS_MIN;
    }
    if (mib == 0 && period_ms == 0) {
        return;
    }
    sigset_t all, before;
    memset(&all, 0xff, sizeof all);
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0) {
        return;
    }
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, &attributes, trim, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (error == 0 && mib != 0) {
        atomic_store(&after_bytes, (unsigned long long)mib << 20);
    }
}
