/* Many malloc blocks of one size: many COUNT BYTES KIND
 *
 *   plain    nothing points at them
 *   linked   each points at the one before; the program's variable at the last
 *   random   each points at another, and a mapped table at all of them
 *   holes    as plain, and every other one is given back
 *
 * Says "ready" when they are there, and ends when its input does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The head of the list: not static, so that it is kept in memory. */
void **last;

int main(int argc, char **argv) {
    if (argc != 4)
        return 2;
    size_t count = strtoul(argv[1], NULL, 10), bytes = strtoul(argv[2], NULL, 10);
    char kind = argv[3][0];
    unsigned long long state = 1;
    void **table = NULL;
    if (kind == 'r' || kind == 'h')
        table = mmap(NULL, count * sizeof *table, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (table == MAP_FAILED || bytes < sizeof(void *))
        return 2;
    for (size_t i = 0; i < count; i++) {
        void **block = malloc(bytes);
        if (!block)
            return 1;
        memset(block, 1, bytes);
        if (table)
            table[i] = block;
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        if (kind == 'r')
            *block = table[(state >> 33) % (i + 1)];
        if (kind == 'l') {
            *block = last;
            last = block;
        }
    }
    for (size_t i = 0; kind == 'h' && i < count; i += 2)
        free(table[i]);
    puts("ready");
    fflush(stdout);
    getchar();
    return 0;
}
