/* A program whose malloc blocks are known: it allocates and frees by a seeded plan, then waits and answers commands.
 *
 *   blocks [key=value ...]      keys and defaults are in the struct below
 *
 * Commands, one letter each on standard input, every one answered with "ok\n" on standard output:
 *   l   writes the blocks to the file of the key `list`: "u ADDRESS USABLE_BYTES" for those in use, "f ADDRESS" for
 *       addresses that were handed out and given back, and are not in use now
 *   i   writes malloc_info() to the file of the key `info`
 *   t   calls malloc_trim(0)
 *   q   ends
 *
 * Its own tables are mapped, not malloc'ed, so that it knows every block but those of the C library and the loader. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct {
    long seed, threads, blocks, min, max, free, align, realloc, touch, rounds, mmap_threshold, trim_threshold, mxfast, sbrk,
        cross, churn, block_brk, tail;
    const char *order, *list, *info;
} want = {
    .seed = 1,           /* of the draws */
    .threads = 0,        /* beside the main one, which does the same as they */
    .blocks = 1000,      /* of each thread */
    .min = 16,           /* bytes of the smallest */
    .max = 4096,         /* bytes of the largest; sizes are log-uniform */
    .free = 50,          /* percent that are given back */
    .align = 0,          /* percent of them from aligned_alloc, 32 B to 64 KiB */
    .realloc = 0,        /* percent that grow or shrink once */
    .touch = 100,        /* percent whose bytes are all written */
    .rounds = 1,         /* how often a part is given back and allocated again */
    .mmap_threshold = 0, /* M_MMAP_THRESHOLD, if not 0 */
    .trim_threshold = 0, /* M_TRIM_THRESHOLD, if not 0 */
    .mxfast = -1,        /* M_MXFAST, if not negative */
    .sbrk = 0,           /* bytes that somebody else gets by sbrk, halfway */
    .cross = 0,          /* 1: each thread's blocks are given back by the main one */
    .churn = 0,          /* threads go on allocating and freeing while the commands are answered: 1 some blocks each, 2 any of theirs */
    .block_brk = 0,      /* 1: memory is mapped where the break would grow to, halfway */
    .tail = 0,           /* blocks that are given back at the end of the heap, beside the others */
    .order = "random",   /* which are given back: random, first, last, alternate */
};

static const char *keys[] = {"seed",  "threads", "blocks", "min",            "max",            "free",   "align", "realloc",
                             "touch", "rounds",  "mmap_threshold", "trim_threshold", "mxfast", "sbrk",  "cross",
                             "churn", "block_brk", "tail"};

struct block {
    char *at;
    size_t usable;
};

struct part {
    struct block *used;
    uintptr_t *freed;
    size_t freed_count;
    uint64_t state;
    int number;
};

static pthread_barrier_t begin, ready, done;

static uint64_t draw(struct part *part) { /* splitmix64 */
    uint64_t z = part->state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static long percent(struct part *part) { return (long)(draw(part) % 100); }

static void *table(size_t bytes) {
    void *at = mmap(NULL, bytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        abort();
    return at;
}

static size_t draw_size(struct part *part) {
    size_t size = (size_t)want.max, halvings = 0;
    while (size > (size_t)want.min)
        size /= 2, halvings++;
    size = (size_t)want.min << (draw(part) % (halvings + 1));
    size += draw(part) % (size + 1);
    return size > (size_t)want.max ? (size_t)want.max : size;
}

static void take(struct part *part, size_t i) {
    size_t size = draw_size(part);
    char *at = percent(part) < want.align ? aligned_alloc(32ul << (draw(part) % 12), size) : malloc(size);
    if (!at)
        abort();
    if (percent(part) < want.touch)
        memset(at, (int)(i | 1), size);
    else
        at[0] = 1;
    part->used[i].at = at;
    part->used[i].usable = malloc_usable_size(at);
}

static void give_back(struct part *part, size_t i) {
    if (!part->used[i].at)
        return;
    part->freed[part->freed_count++] = (uintptr_t)part->used[i].at;
    free(part->used[i].at);
    part->used[i].at = NULL;
}

static int is_chosen(struct part *part, size_t i, size_t all) {
    if (!strcmp(want.order, "first"))
        return i * 100 < all * (size_t)want.free;
    if (!strcmp(want.order, "last"))
        return (all - i - 1) * 100 < all * (size_t)want.free;
    if (!strcmp(want.order, "alternate"))
        return i % 2 == 0;
    return percent(part) < want.free;
}

static void grow_or_shrink(struct part *part, size_t i) {
    uintptr_t before = (uintptr_t)part->used[i].at;
    char *at = realloc(part->used[i].at, draw_size(part));
    if (!at)
        abort();
    if ((uintptr_t)at != before)
        part->freed[part->freed_count++] = before;
    part->used[i].at = at;
    part->used[i].usable = malloc_usable_size(at);
}

static void work(struct part *part, size_t blocks) {
    for (long round = 0; round < want.rounds; round++) {
        for (size_t i = 0; i < blocks; i++) {
            if (!part->used[i].at)
                take(part, i);
            if (part->number == 0 && round == 0 && i == blocks / 2) {
                if (want.sbrk && sbrk(want.sbrk) == (void *)-1)
                    abort();
                if (want.block_brk)
                    mmap((char *)(((uintptr_t)sbrk(0) + 4095) & ~4095ul), 4096, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
            }
        }
        for (size_t i = 0; i < blocks; i++)
            if (percent(part) < want.realloc)
                grow_or_shrink(part, i);
        if (!want.cross || round + 1 < want.rounds)
            for (size_t i = 0; i < blocks; i++)
                if (is_chosen(part, i, blocks))
                    give_back(part, i);
    }
}

static void make_tail(struct part *part) {
    size_t blocks = (size_t)want.blocks;
    for (size_t i = 0; i < (size_t)want.tail; i++)
        take(part, blocks + i);
    for (size_t i = (size_t)want.tail; i-- > 0;)
        give_back(part, blocks + i);
}

/* The C library's own blocks, the thread's cache among them, come first: no address that is given back later is used
 * for them. */
static void begin_together(void) {
    void *volatile first = malloc(1);
    free(first);
    pthread_barrier_wait(&begin);
}

static void *run(void *argument) {
    struct part *part = argument;
    begin_together();
    work(part, (size_t)want.blocks);
    make_tail(part);
    pthread_barrier_wait(&ready);
    if (want.churn == 2)
        for (;;) {
            struct block *block = &part->used[draw(part) % (size_t)want.blocks];
            free(block->at);
            block->at = malloc(draw_size(part));
            *(char *)block->at = 1;
        }
    if (want.churn) {
        void *at[64] = {0};
        for (;;) {
            size_t i = draw(part) % 64;
            free(at[i]);
            at[i] = malloc(draw_size(part));
            *(char *)at[i] = 1;
        }
    }
    pthread_barrier_wait(&done);
    return NULL;
}

static int compare(const void *a, const void *b) {
    uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
    return x < y ? -1 : x > y;
}

static void sort(uintptr_t *at, size_t count) { /* heap sort: qsort() may allocate */
    for (size_t start = count / 2, end = count; end > 1;) {
        if (start > 0) {
            start--;
        } else {
            end--;
            uintptr_t swap = at[end];
            at[end] = at[0];
            at[0] = swap;
        }
        for (size_t root = start, child; (child = 2 * root + 1) < end; root = child) {
            if (child + 1 < end && at[child] < at[child + 1])
                child++;
            if (at[root] >= at[child])
                break;
            uintptr_t swap = at[root];
            at[root] = at[child];
            at[child] = swap;
        }
    }
}

static char text[1 << 16];
static size_t text_bytes;

static void flush_to(int file) {
    if (write(file, text, text_bytes) != (ssize_t)text_bytes)
        abort();
    text_bytes = 0;
}

static void list_blocks(struct part *parts, size_t count, size_t each) {
    int file = open(want.list, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0)
        abort();
    uintptr_t *used = table(count * each * sizeof *used);
    size_t used_count = 0;
    for (size_t p = 0; p < count; p++)
        for (size_t i = 0; i < each; i++) {
            struct block *block = &parts[p].used[i];
            if (!block->at)
                continue;
            used[used_count++] = (uintptr_t)block->at;
            text_bytes += (size_t)sprintf(text + text_bytes, "u %lx %zu\n", (long)block->at, block->usable);
            if (text_bytes > sizeof text - 64)
                flush_to(file);
        }
    sort(used, used_count);
    for (size_t p = 0; p < count; p++)
        for (size_t i = 0; i < parts[p].freed_count; i++) {
            if (bsearch(&parts[p].freed[i], used, used_count, sizeof *used, compare))
                continue;
            text_bytes += (size_t)sprintf(text + text_bytes, "f %lx\n", (long)parts[p].freed[i]);
            if (text_bytes > sizeof text - 64)
                flush_to(file);
        }
    flush_to(file);
    close(file);
    munmap(used, count * each * sizeof *used + 4096);
}

static void read_arguments(int count, char **arguments) {
    for (int i = 1; i < count; i++) {
        char *value = strchr(arguments[i], '=');
        if (!value)
            exit(2);
        *value++ = 0;
        if (!strcmp(arguments[i], "order"))
            want.order = value;
        else if (!strcmp(arguments[i], "list"))
            want.list = value;
        else if (!strcmp(arguments[i], "info"))
            want.info = value;
        else {
            size_t key = 0;
            while (key < sizeof keys / sizeof *keys && strcmp(arguments[i], keys[key]))
                key++;
            if (key == sizeof keys / sizeof *keys)
                exit(2);
            (&want.seed)[key] = strtol(value, NULL, 10);
        }
    }
}

int main(int count, char **arguments) {
    static char buffer[1 << 16];
    read_arguments(count, arguments);
    if (want.mmap_threshold)
        mallopt(M_MMAP_THRESHOLD, (int)want.mmap_threshold);
    if (want.trim_threshold)
        mallopt(M_TRIM_THRESHOLD, (int)want.trim_threshold);
    if (want.mxfast >= 0)
        mallopt(M_MXFAST, (int)want.mxfast);
    FILE *info = want.info ? fopen(want.info, "w") : NULL;
    if (info)
        setvbuf(info, buffer, _IOFBF, sizeof buffer);
    size_t parts_count = (size_t)want.threads + 1, each = (size_t)(want.blocks + want.tail);
    struct part *parts = table(parts_count * sizeof *parts);
    pthread_t *threads = table(parts_count * sizeof *threads);
    pthread_barrier_init(&begin, NULL, (unsigned)parts_count);
    pthread_barrier_init(&ready, NULL, (unsigned)parts_count);
    pthread_barrier_init(&done, NULL, (unsigned)parts_count);
    for (size_t p = 0; p < parts_count; p++) {
        parts[p].number = (int)p;
        parts[p].state = (uint64_t)want.seed * 1000003 + p;
        parts[p].used = table(each * sizeof(struct block));
        parts[p].freed = table(each * sizeof(uintptr_t) * (size_t)(2 * want.rounds + 2));
        if (p && pthread_create(&threads[p], NULL, run, &parts[p]))
            abort();
    }
    begin_together();
    work(&parts[0], (size_t)want.blocks);
    make_tail(&parts[0]);
    pthread_barrier_wait(&ready);
    if (want.cross)
        for (size_t p = 0; p < parts_count; p++)
            for (size_t i = 0; i < (size_t)want.blocks; i++)
                if (is_chosen(&parts[p], i, (size_t)want.blocks))
                    give_back(&parts[p], i);
    char command = 'r';
    do {
        if (command == 'l')
            list_blocks(parts, parts_count, each);
        if (command == 'i') {
            malloc_info(0, info);
            fflush(info);
        }
        if (command == 't')
            malloc_trim(0);
        if (write(1, "ok\n", 3) != 3)
            break;
    } while (read(0, &command, 1) == 1 && command != 'q');
    _exit(0);
}
