/* Allocates blocks of known sizes on several threads, frees a known part of them, says what is live and what the
 * allocator itself reports, and waits until its input ends. Its own books are not on the allocator's heap.
 *
 *   known_blocks SEED THREADS BLOCKS CHURNING     output: "live ADDRESS USABLE_BYTES", "freed ADDRESS", "stat NAME VALUE", "ready"
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct block {
    void *address;
    int is_live;
};

static struct block *blocks;
static long threads, blocks_per_thread, seed;
static pthread_barrier_t begin, done;
static char in[1 << 10], out[1 << 16];

static uint64_t draw(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static size_t draw_bytes(uint64_t *state) {
    uint64_t kind = draw(state) % 1000, any = draw(state);
    if (kind < 650) return 1 + any % 256;
    if (kind < 900) return 1 + any % 4096;
    if (kind < 980) return 1 + any % 65536;
    if (kind < 998) return 1 + any % (1 << 20);
    return 1 + any % (8 << 20);
}

static void fill(struct block *block, uint64_t *state) {
    size_t bytes = draw_bytes(state);
    void *address = NULL;
    if (draw(state) % 50 == 0) {
        if (posix_memalign(&address, (size_t)16 << draw(state) % 10, bytes) != 0) abort();
    } else {
        address = malloc(bytes);
    }
    if (address == NULL) abort();
    memset(address, 0x5a, bytes < 64 ? bytes : 64);
    block->address = address;
    block->is_live = 1;
}

static void *work(void *argument) {
    long number = (long)(intptr_t)argument;
    uint64_t state = (uint64_t)seed * 1000003 + (uint64_t)number * 7919 + 1;
    struct block *mine = blocks + number * blocks_per_thread;
    pthread_barrier_wait(&begin); /* the C library allocates for each new thread */
    for (long i = 0; i < blocks_per_thread; i++) fill(&mine[i], &state);
    /* Frees some, allocates in their place, and frees others: runs of them and single ones. */
    for (long i = 0; i < blocks_per_thread; i++) {
        if (draw(&state) % 3 == 0) {
            free(mine[i].address);
            fill(&mine[i], &state);
        }
    }
    for (long i = 0; i < blocks_per_thread; i++) {
        int in_run = (i / 64) % 4 == 1;
        if (in_run || draw(&state) % 5 == 0) {
            free(mine[i].address);
            mine[i].is_live = 0;
        }
    }
    pthread_barrier_wait(&done);
    if (number % 3 == 2) return NULL; /* its cache is given back */
    for (;;) pause();
}

/* Allocates and frees as fast as it can, when the rest is done. */
static void *churn(void *argument) {
    void *held[64] = {NULL};
    uint64_t state = (uint64_t)(intptr_t)argument * 15485863 + 3;
    for (;;) {
        void **one = &held[draw(&state) % 64];
        free(*one);
        *one = malloc(1 + draw(&state) % (draw(&state) % 20 == 0 ? 100000 : 1000));
        if (*one == NULL) abort();
        *(char *)*one = 1;
    }
}

typedef int mallctl_fn(const char *, void *, size_t *, void *, size_t);
typedef int property_fn(const char *, size_t *);
typedef void stats_fn(char *, int);

static const char *const jemalloc_names[] = {"stats.allocated", "stats.active", "stats.metadata", "stats.resident",
                                             "stats.mapped", "stats.retained",
                                             "stats.arenas.4096.tcache_bytes", "stats.arenas.4096.internal",
                                             "stats.arenas.4096.base"};
static const char *const tcmalloc_names[] = {
    "generic.current_allocated_bytes",          "generic.heap_size",
    "tcmalloc.pageheap_free_bytes",             "tcmalloc.pageheap_unmapped_bytes",
    "tcmalloc.current_total_thread_cache_bytes", "tcmalloc.central_cache_free_bytes",
    "tcmalloc.transfer_cache_free_bytes"};
#define COUNT(names) (sizeof(names) / sizeof(names[0]))

static int ask_jemalloc(mallctl_fn *mallctl, size_t *values) {
    uint64_t epoch = 1;
    size_t bytes = sizeof(epoch);
    mallctl("epoch", &epoch, &bytes, &epoch, bytes);
    for (size_t i = 0; i < COUNT(jemalloc_names); i++) {
        bytes = sizeof(size_t);
        if (mallctl(jemalloc_names[i], &values[i], &bytes, NULL, 0) != 0) return 0;
    }
    return 1;
}

int main(int count, char **arguments) {
    static size_t values[16];
    static char text[1 << 16];
    if (count != 5) return 2;
    seed = atol(arguments[1]), threads = atol(arguments[2]), blocks_per_thread = atol(arguments[3]);
    setvbuf(stdin, in, _IOFBF, sizeof(in));
    setvbuf(stdout, out, _IOFBF, sizeof(out));
    size_t bytes = (size_t)threads * (size_t)blocks_per_thread * sizeof(struct block);
    blocks = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (blocks == MAP_FAILED) return 1;
    mallctl_fn *mallctl = (mallctl_fn *)dlsym(RTLD_DEFAULT, "mallctl");
    property_fn *property = (property_fn *)dlsym(RTLD_DEFAULT, "MallocExtension_GetNumericProperty");
    stats_fn *stats = (stats_fn *)dlsym(RTLD_DEFAULT, "MallocExtension_GetStats");
    pthread_barrier_init(&begin, NULL, (unsigned)threads);
    pthread_barrier_init(&done, NULL, (unsigned)threads + 1);
    for (long i = 0; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, (void *)(intptr_t)i) != 0) return 1;
        pthread_detach(thread);
    }
    pthread_barrier_wait(&done);
    usleep(200000); /* until those that end have ended */
    /* Another thread than the one that allocated them frees some. */
    for (long i = 0; i < threads * blocks_per_thread; i += 17) {
        if (blocks[i].is_live) free(blocks[i].address);
        blocks[i].is_live = 0;
    }
    for (long i = 0; i < threads * blocks_per_thread; i++) {
        if (blocks[i].is_live) {
            printf("live %p %zu\n", blocks[i].address, malloc_usable_size(blocks[i].address));
        } else {
            printf("freed %p\n", blocks[i].address);
        }
    }
    fflush(stdout);
    /* Twice: the first time it allocates for its own reports. */
    if (mallctl != NULL && ask_jemalloc(mallctl, values) && ask_jemalloc(mallctl, values)) {
        for (size_t i = 0; i < COUNT(jemalloc_names); i++) printf("stat %s %zu\n", jemalloc_names[i], values[i]);
    }
    if (property != NULL) {
        for (size_t i = 0; i < COUNT(tcmalloc_names); i++) {
            if (property(tcmalloc_names[i], &values[i])) printf("stat %s %zu\n", tcmalloc_names[i], values[i]);
        }
        if (stats != NULL) stats(text, (int)sizeof(text));
        char *metadata = strstr(text, "Bytes in malloc metadata");
        while (metadata != NULL && metadata > text && metadata[-1] != '\n') metadata--;
        if (metadata != NULL) printf("stat metadata %ld\n", atol(metadata + strcspn(metadata, "0123456789")));
    }
    for (long i = 0; i < atol(arguments[4]); i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, churn, (void *)(intptr_t)i) != 0) return 1;
    }
    printf("ready\n");
    fflush(stdout);
    while (getchar() != EOF) {
    }
    _exit(0);
}
