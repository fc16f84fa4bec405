/* Memory that Java cannot allocate exactly: malloc blocks that a library owns, arenas left free, touched stacks, huge
 * pages. Everything is written to, so that "allocated" is "resident". Content is 0x5a: never the address of anything. */
#define _GNU_SOURCE
#include <jni.h>
#include <alloca.h>
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FILL = 0x5a, HUGE_PAGE_BYTES = 2 << 20 };
/* Of arenas: the small blocks that stay, how many may be needed, how much of what was freed before may be met. */
/* Blocks whose only pointers are in the library's own zero-initialised variables. */
enum { STATICS_MAX = 1 << 14 };
enum { PIN_BYTES = 32, PINS_MAX = 4096, CHECKED_BYTES = 64, REUSED_TIMES_MAX = 64, REUSED_MORE_MAX = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* The blocks that this library holds, in a table of its own mapping so that the table is no malloc block itself. */
static void **blocks;
static size_t block_count, block_room;
static void *statics[STATICS_MAX];
static size_t static_count;

static void *map(size_t bytes) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static int make_room(size_t more) {
    if (block_count + more <= block_room) return 1;
    size_t room = (block_count + more) * 2;
    void **larger = map(room * sizeof *larger);
    if (!larger) return 0;
    if (blocks) {
        memcpy(larger, blocks, block_count * sizeof *larger);
        munmap(blocks, block_room * sizeof *blocks);
    }
    blocks = larger;
    block_room = room;
    return 1;
}

static void throw_out_of_memory(JNIEnv *env) {
    jclass class = (*env)->FindClass(env, "java/lang/OutOfMemoryError");
    if (class) (*env)->ThrowNew(env, class, "native memory");
}

/* Allocates and keeps `count` blocks; returns the sum of what malloc gave (its usable sizes). */
JNIEXPORT jlong JNICALL Java_assay_probes_malloc_NativeLibrary_hold(JNIEnv *env, jobject self, jint count, jlong bytes) {
    (void)self;
    jlong usable = 0;
    pthread_mutex_lock(&lock);
    int good = make_room((size_t)count);
    for (jint i = 0; good && i < count; i++) {
        void *block = malloc((size_t)bytes);
        if (!block) {
            good = 0;
            break;
        }
        memset(block, FILL, (size_t)bytes);
        usable += (jlong)malloc_usable_size(block);
        blocks[block_count++] = block;
    }
    pthread_mutex_unlock(&lock);
    if (!good) throw_out_of_memory(env);
    return usable;
}

/* The same, with the pointers in a static array. */
JNIEXPORT jlong JNICALL
Java_assay_probes_malloc_NativeLibrary_holdInStatics(JNIEnv *env, jobject self, jint count, jlong bytes) {
    (void)self;
    jlong usable = 0;
    pthread_mutex_lock(&lock);
    int good = (size_t)count <= STATICS_MAX - static_count;
    for (jint i = 0; good && i < count; i++) {
        void *block = malloc((size_t)bytes);
        if (!block) {
            good = 0;
            break;
        }
        usable += (jlong)malloc_usable_size(memset(block, FILL, (size_t)bytes));
        statics[static_count++] = block;
    }
    pthread_mutex_unlock(&lock);
    if (!good) throw_out_of_memory(env);
    return usable;
}

/* A block of which only the caller knows; 0 when there is no memory. */
JNIEXPORT jlong JNICALL Java_assay_probes_malloc_NativeLibrary_allocate(JNIEnv *env, jobject self, jlong bytes) {
    (void)self;
    void *block = malloc((size_t)bytes);
    if (block) return (jlong)(uintptr_t)memset(block, FILL, (size_t)bytes);
    throw_out_of_memory(env);
    return 0;
}

JNIEXPORT jlong JNICALL Java_assay_probes_malloc_NativeLibrary_usable(JNIEnv *env, jobject self, jlong address) {
    (void)env, (void)self;
    return (jlong)malloc_usable_size((void *)(uintptr_t)address);
}

JNIEXPORT void JNICALL Java_assay_probes_malloc_NativeLibrary_free(JNIEnv *env, jobject self, jlong address) {
    (void)env, (void)self;
    free((void *)(uintptr_t)address);
}

JNIEXPORT jlong JNICALL Java_assay_probes_malloc_NativeLibrary_reference(JNIEnv *env, jobject self, jobject object) {
    (void)self;
    return (jlong)(uintptr_t)(*env)->NewGlobalRef(env, object);
}

JNIEXPORT void JNICALL
Java_assay_probes_malloc_NativeLibrary_dropReference(JNIEnv *env, jobject self, jlong reference) {
    (void)self;
    (*env)->DeleteGlobalRef(env, (jobject)(uintptr_t)reference);
}

JNIEXPORT void JNICALL Java_assay_probes_malloc_NativeLibrary_freeAll(JNIEnv *env, jobject self) {
    (void)env, (void)self;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < block_count; i++) free(blocks[i]);
    for (size_t i = 0; i < static_count; i++) free(statics[i]), statics[i] = NULL;
    block_count = static_count = 0;
    pthread_mutex_unlock(&lock);
}

/* Keeps small blocks until one lies above `highest`: earlier ones come from what is free below. */
static int pin_above(uintptr_t highest) {
    int good = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; !good && i < PINS_MAX && make_room(1); i++) {
        void *pin = malloc(PIN_BYTES);
        if (!pin) break;
        blocks[block_count++] = memset(pin, FILL, PIN_BYTES);
        good = (uintptr_t)pin > highest;
    }
    pthread_mutex_unlock(&lock);
    return good;
}

/* Whether nobody has written to the middle of a new block: then its pages are not in memory yet. What was freed before
 * keeps its content there. */
static int is_fresh(const char *block, size_t bytes) {
    static const char zeros[CHECKED_BYTES];
    return memcmp(block + bytes / 2 - CHECKED_BYTES / 2, zeros, CHECKED_BYTES) == 0;
}

/* Allocates blocks in the calling thread's arena until `count` of them are memory that was not resident before (arenas
 * may be shared, and hold what others freed), then a small one above them, then frees the blocks. The small one is
 * kept: without it the blocks would join the arena's top, which free() gives back. Returns the bytes of these `count`. */
JNIEXPORT jlong JNICALL
Java_assay_probes_malloc_NativeLibrary_fillAndFree(JNIEnv *env, jobject self, jint count, jlong bytes) {
    (void)self;
    size_t room = (size_t)count * REUSED_TIMES_MAX + REUSED_MORE_MAX, filled = 0;
    void **table = map(room * sizeof *table);
    jint fresh = 0;
    jlong freed = 0;
    uintptr_t highest = 0;
    while (table && fresh < count && filled < room) {
        char *block = malloc((size_t)bytes);
        if (!block) break;
        if (is_fresh(block, (size_t)bytes)) {
            fresh++;
            freed += (jlong)malloc_usable_size(block);
        }
        table[filled++] = memset(block, FILL, (size_t)bytes);
        if ((uintptr_t)block > highest) highest = (uintptr_t)block;
    }
    int pinned = pin_above(highest);
    for (size_t i = 0; i < filled; i++) free(table[i]);
    if (table) munmap(table, room * sizeof *table);
    if (!pinned || fresh < count) throw_out_of_memory(env);
    return freed;
}

/* Writes to `bytes` of stack below the caller's frame and returns; the pages stay. Returns how far the lowest touched
 * page lies below the top of the stack: what is resident of it, the C library's own thread data included. */
JNIEXPORT jlong JNICALL Java_assay_probes_malloc_NativeLibrary_touchStack(JNIEnv *env, jobject self, jlong bytes) {
    (void)env, (void)self;
    pthread_attr_t attributes;
    void *bottom;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return -1;
    pthread_attr_getstack(&attributes, &bottom, &size);
    pthread_attr_destroy(&attributes);
    volatile char *touched = alloca((size_t)bytes);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < (size_t)bytes; i += page) touched[i] = FILL;
    touched[bytes - 1] = FILL;
    uintptr_t lowest = (uintptr_t)touched / page * page;
    return (jlong)((uintptr_t)bottom + size - lowest);
}

/* A mapping that asks for huge pages, aligned to them and written to; 0 when there is no memory. */
JNIEXPORT jlong JNICALL Java_assay_probes_malloc_NativeLibrary_mapHuge(JNIEnv *env, jobject self, jlong bytes) {
    (void)self;
    size_t size = (size_t)bytes;
    char *wide = map(size + HUGE_PAGE_BYTES);
    if (!wide) {
        throw_out_of_memory(env);
        return 0;
    }
    char *at = (char *)(((uintptr_t)wide + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES);
    if (at > wide) munmap(wide, (size_t)(at - wide));
    munmap(at + size, (size_t)(wide + HUGE_PAGE_BYTES - at));
    madvise(at, size, MADV_HUGEPAGE);
    memset(at, FILL, size);
    return (jlong)(uintptr_t)at;
}

JNIEXPORT void JNICALL
Java_assay_probes_malloc_NativeLibrary_unmap(JNIEnv *env, jobject self, jlong address, jlong bytes) {
    (void)env, (void)self;
    munmap((void *)(uintptr_t)address, (size_t)bytes);
}

/* Bytes in use by glibc's own account, thread caches counted as in use; -1 where another allocator is at work. */
JNIEXPORT jlong JNICALL Java_assay_probes_malloc_NativeLibrary_mallocInUse(JNIEnv *env, jobject self) {
    (void)env, (void)self;
    struct mallinfo2 (*account)(void) = (struct mallinfo2(*)(void))dlsym(RTLD_DEFAULT, "mallinfo2");
    Dl_info of_malloc, of_account;
    /* Preloaded allocators leave glibc's account in place, but it tells nothing of theirs. */
    if (!account || !dladdr((void *)(uintptr_t)malloc, &of_malloc) || !dladdr((void *)account, &of_account) ||
        of_malloc.dli_fbase != of_account.dli_fbase)
        return -1;
    struct mallinfo2 info = account();
    return (jlong)(info.uordblks + info.hblkhd);
}
