/* Drives the models from standard input, for tests: what the plug-in would say of a known sequence.
 *   replay sets ENTRIES WAYS               numbers              -> misses
 *   replay branches local|gshare BITS ENTRIES WAYS   KIND AT NEXT TARGET TAKEN, each a number -> BTB misses, mispredictions
 *   replay decode ARCHITECTURE             AT HEX               -> for each KIND TARGET REPEATS ATOMIC MARK PUSHES SWITCHES SYSCALL TLB */
#include "arch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int sets(char **argv) {
    struct sets sets;
    unsigned long number, misses = 0;
    if (!sets_init(&sets, strtoul(argv[0], NULL, 10), strtoul(argv[1], NULL, 10))) return 1;
    while (scanf("%lu", &number) == 1) misses += !sets_use(&sets, number);
    printf("%lu\n", misses);
    return 0;
}

static int branches(char **argv) {
    struct branches b;
    enum predictor predictor = strcmp(argv[0], "gshare") == 0 ? PREDICTOR_GSHARE : PREDICTOR_LOCAL;
    unsigned long kind, at, next, target, taken, btb_misses = 0, mispredicted = 0;
    if (!branches_init(&b, predictor, (unsigned)atoi(argv[1]), strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10))) return 1;
    while (scanf("%lu %lu %lu %lu %lu", &kind, &at, &next, &target, &taken) == 5) {
        struct outcome outcome = branches_execute(&b, (enum branch)kind, at, next, target, taken != 0);
        btb_misses += outcome.btb_missed;
        mispredicted += outcome.mispredicted;
    }
    printf("%lu %lu\n", btb_misses, mispredicted);
    return 0;
}

static int decode(const struct arch *arch) {
    if (!arch) return 1;
    unsigned long at;
    char hex[64];
    while (scanf("%lu %63s", &at, hex) == 2) {
        uint8_t bytes[32];
        size_t size = strlen(hex) / 2;
        for (size_t i = 0; i < size; i++) {
            unsigned byte;
            sscanf(hex + 2 * i, "%2x", &byte);
            bytes[i] = (uint8_t)byte;
        }
        struct decoded is = arch->decode(bytes, size, at);
        printf("%d %lu %d %d %u %d %d %d %d\n", is.branch, (unsigned long)is.target, is.repeats, is.atomic, is.mark, is.pushes, is.switches,
               is.makes_syscall, is.drops_tlb);
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "sets") == 0) return sets(argv + 2);
    if (argc == 6 && strcmp(argv[1], "branches") == 0) return branches(argv + 2);
    if (argc == 3 && strcmp(argv[1], "decode") == 0) return decode(arch_of(argv[2]));
    return 2;
}
