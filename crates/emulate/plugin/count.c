/* Counts what a guest executes between two marks, by task and by user and kernel. See docs/emulation.md.
 *
 * The guest marks with an instruction that does nothing and is nowhere else. Until the first mark nothing is instrumented but marks and
 * task switches, so that the guest boots fast. Who runs is known without the kernel's symbols: one instruction of the kernel's switch
 * reads memory that is the next task's. Which instructions these are is said in arch_*.c.
 *
 * Arguments, all needed: out=FILE l1i,l1d,l2=BYTES:WAYS:LINE itlb,dtlb,btb=ENTRIES:WAYS predictor=local|gshare:BITS */
#include "arch.h"
#include "qemu_api.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

enum { LINES_MAX = 64, TASKS_MAX = 1 << 16 };

/* What is counted, in the order of NAMES. */
enum figure {
    INSTRUCTIONS, LOADS, STORES, BRANCHES, TAKEN, MISPREDICTED, BTB_MISSES, L1I_USES, L1I_MISSES, L1D_USES, L1D_MISSES, L2_USES, L2_MISSES,
    ITLB_MISSES, DTLB_MISSES, SYSCALLS, SWITCHES, EXCLUSIVE_LOADS, EXCLUSIVE_STORES, ATOMIC_INSTRUCTIONS, FIGURES
};
static const char *const NAMES[FIGURES] = {
    "instructions", "loads", "stores", "branches", "branches_taken", "branches_mispredicted", "btb_misses", "l1i_uses", "l1i_misses",
    "l1d_uses", "l1d_misses", "l2_uses", "l2_misses", "itlb_misses", "dtlb_misses", "syscalls", "context_switches", "exclusive_loads", "exclusive_stores",
    "atomic_instructions"
};

enum mode { USER, KERNEL, MODES };

struct task {
    uint64_t address; /* where the kernel keeps its stack pointer */
    bool is_client;
    bool was_user;
    uint64_t stack; /* where it first pushed something in user mode since the first mark; 0 before that */
    uint64_t figures[MODES][FIGURES];
};

/* A block of guest code. */
struct block {
    struct block *older;
    uint64_t at, next; /* first address, and the one behind the last instruction */
    uint64_t last, target;
    enum branch branch;
    enum mode mode;
    unsigned instructions;
    bool repeats;      /* begins with a string instruction that repeats */
    bool makes_syscall;
    bool drops_tlb;
    bool has_mark;
    unsigned atomics[ATOMIC_WHOLE + 1];
    unsigned lines, pages;
    uint64_t line[LINES_MAX], page[2];
};

static qemu_plugin_id_t plugin;
static const struct arch *arch;
static const char *out;
static bool counts; /* between two marks */
static struct block *blocks;
static struct task *tasks[TASKS_MAX], *current;
static struct sets l1i, l1d, l2, itlb, dtlb;
static unsigned line_bits[3]; /* of l1i, l1d, l2 */
static struct branches branches;
static struct block *pending; /* whose branch goes to the block that comes next */

static struct task *task_of(uint64_t address) {
    size_t at = (address >> 6) * 0x9e3779b97f4a7c15u >> 48;
    while (tasks[at] && tasks[at]->address != address) at = (at + 1) % TASKS_MAX;
    if (!tasks[at]) {
        tasks[at] = calloc(1, sizeof **tasks);
        if (!tasks[at]) abort();
        tasks[at]->address = address;
    }
    return tasks[at];
}

static void count(enum mode mode, enum figure figure, uint64_t n) {
    current->figures[mode][figure] += n;
}

static void use_l2(enum mode mode, uint64_t address) {
    count(mode, L2_USES, 1);
    if (!sets_use(&l2, address >> line_bits[2])) count(mode, L2_MISSES, 1);
}

static bool is_user_page(uint64_t page) {
    return !is_kernel(page << arch->page_bits);
}

/* What became of the last block's branch, now that it is known what came after it. */
static void resolve(const struct block *now) {
    const struct block *was = pending;
    pending = NULL;
    if (was->branch == BRANCH_NONE) return;
    bool taken = was->branch != BRANCH_IF || now->at != was->next || was->target == was->next;
    bool is_interrupted = was->mode != now->mode || (was->branch == BRANCH_IF && taken && now->at != was->target);
    if (is_interrupted) return; /* the handler came first: what was decided is not seen */
    count(was->mode, BRANCHES, 1);
    count(was->mode, TAKEN, taken);
    uint64_t target = taken ? now->at : was->target;
    struct outcome outcome = branches_execute(&branches, was->branch, was->last, was->next, target, taken);
    count(was->mode, BTB_MISSES, outcome.btb_missed);
    count(was->mode, MISPREDICTED, outcome.mispredicted);
}

static void on_block(unsigned int vcpu, void *userdata) {
    (void)vcpu;
    struct block *block = userdata;
    if (!counts) return;
    if (block->mode == USER) current->was_user = true;
    /* Each round of a string instruction begins its block anew; the processor executes it once. */
    bool is_round = block->repeats && pending && pending->last == block->at;
    if (pending) resolve(block);
    if (block->has_mark) return;
    count(block->mode, INSTRUCTIONS, block->instructions - is_round);
    for (unsigned i = 0; i < block->pages; i++)
        if (!sets_use(&itlb, block->page[i])) count(block->mode, ITLB_MISSES, 1);
    count(block->mode, L1I_USES, block->lines);
    for (unsigned i = 0; i < block->lines; i++)
        if (!sets_use(&l1i, block->line[i])) {
            count(block->mode, L1I_MISSES, 1);
            use_l2(block->mode, block->line[i] << line_bits[0]);
        }
    if (block->makes_syscall) count(block->mode, SYSCALLS, 1);
    for (enum atomic atomic = ATOMIC_EXCLUSIVE_LOAD; atomic <= ATOMIC_WHOLE; atomic++)
        if (block->atomics[atomic]) count(block->mode, EXCLUSIVE_LOADS + (atomic - ATOMIC_EXCLUSIVE_LOAD), block->atomics[atomic]);
    if (block->drops_tlb) {
        sets_drop(&itlb, is_user_page);
        sets_drop(&dtlb, is_user_page);
    }
    pending = block;
}

static void on_access(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata) {
    (void)vcpu;
    if (!counts) return;
    enum mode mode = ((const struct block *)userdata)->mode;
    struct qemu_plugin_hwaddr *where = qemu_plugin_get_hwaddr(info, vaddr);
    count(mode, qemu_plugin_mem_is_store(info) ? STORES : LOADS, 1);
    if (!where || qemu_plugin_hwaddr_is_io(where)) return;
    if (!sets_use(&dtlb, vaddr >> arch->page_bits)) count(mode, DTLB_MISSES, 1);
    uint64_t first = qemu_plugin_hwaddr_phys_addr(where), last = first + (1u << qemu_plugin_mem_size_shift(info)) - 1;
    for (uint64_t line = first >> line_bits[1]; line <= last >> line_bits[1]; line++) {
        count(mode, L1D_USES, 1);
        if (!sets_use(&l1d, line)) {
            count(mode, L1D_MISSES, 1);
            use_l2(mode, line << line_bits[1]);
        }
    }
}

/* The first push tells threads apart: each has a stack of its own. */
static void on_push(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata) {
    (void)vcpu, (void)info, (void)userdata;
    if (counts && !current->stack) current->stack = vaddr;
}

static void on_switch(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata) {
    (void)vcpu, (void)info, (void)userdata;
    if (counts) count(KERNEL, SWITCHES, 1); /* the one who is left */
    current = task_of(vaddr);
}

static void write_counts(void) {
    FILE *file = fopen(out, "w");
    if (!file) return;
    uint64_t sums[3][MODES][FIGURES] = {0}; /* server, client, kernel threads and idle */
    unsigned long numbers[3] = {0};
    for (size_t i = 0; i < TASKS_MAX; i++) {
        const struct task *task = tasks[i];
        if (!task) continue;
        unsigned who = task->is_client ? 1 : task->was_user ? 0 : 2;
        bool ran = false;
        for (unsigned mode = 0; mode < MODES; mode++)
            for (unsigned figure = 0; figure < FIGURES; figure++) {
                sums[who][mode][figure] += task->figures[mode][figure];
                ran |= task->figures[mode][figure] != 0;
            }
        numbers[who] += ran;
    }
    static const char *const WHO[] = {"server", "client", "kernel_threads"}, *const MODE[] = {"user", "kernel"};
    fputs("{", file);
    for (unsigned who = 0; who < 3; who++) {
        fprintf(file, "%s\n\"%s\":{\"tasks\":%lu", who ? "," : "", WHO[who], numbers[who]);
        for (unsigned mode = 0; mode < MODES; mode++) {
            fprintf(file, ",\n \"%s\":{", MODE[mode]);
            for (unsigned figure = 0; figure < FIGURES; figure++)
                fprintf(file, "%s\"%s\":%llu", figure ? "," : "", NAMES[figure], (unsigned long long)sums[who][mode][figure]);
            fputs("}", file);
        }
        fputs("}", file);
    }
    fputs(",\n\"threads\":[", file);
    const char *comma = "";
    for (size_t i = 0; i < TASKS_MAX; i++) {
        const struct task *task = tasks[i];
        if (!task || task->is_client || !task->stack) continue;
        fprintf(file, "%s\n {\"stack\":%llu,\"user_instructions\":%llu}", comma, (unsigned long long)task->stack,
                (unsigned long long)task->figures[USER][INSTRUCTIONS]);
        comma = ",";
    }
    fputs("]\n}\n", file);
    fclose(file);
}

static void begin_again(qemu_plugin_id_t id);

static void on_mark(unsigned int vcpu, void *userdata) {
    (void)vcpu;
    switch ((uintptr_t)userdata) {
    case MARK_CLIENT:
        current->is_client = true;
        break;
    case MARK_BEGIN:
        for (size_t i = 0; i < TASKS_MAX; i++)
            if (tasks[i]) {
                tasks[i]->was_user = false;
                tasks[i]->stack = 0;
                memset(tasks[i]->figures, 0, sizeof tasks[i]->figures);
            }
        pending = NULL;
        counts = true;
        qemu_plugin_reset(plugin, begin_again);
        break;
    case MARK_END:
        if (!counts) break;
        /* No reset: QEMU 7.2 may still hold callbacks of a block that a helper left (fixed in 8.0), and would call what was freed. The guest
         * ends soon. */
        counts = false;
        write_counts();
        break;
    }
}

/* Which lines and pages its code lies in. */
static void add_code(struct block *block, const struct qemu_plugin_insn *insn) {
    uint64_t page = qemu_plugin_insn_vaddr(insn) >> arch->page_bits;
    /* Where QEMU keeps the guest's memory: as good as its physical address, since that begins at a multiple of 2 MiB. */
    uint64_t host = (uint64_t)(uintptr_t)qemu_plugin_insn_haddr(insn);
    if (host == 0) return;
    uint64_t last = (host + qemu_plugin_insn_size(insn) - 1) >> line_bits[0];
    for (uint64_t line = host >> line_bits[0]; line <= last; line++)
        if (block->lines < LINES_MAX && (block->lines == 0 || block->line[block->lines - 1] < line)) block->line[block->lines++] = line;
    if (block->pages < 2 && (block->pages == 0 || block->page[block->pages - 1] != page)) block->page[block->pages++] = page;
}

static struct block *new_block(struct qemu_plugin_tb *tb) {
    struct block *block = calloc(1, sizeof *block);
    if (!block) abort();
    block->older = blocks;
    blocks = block;
    block->at = qemu_plugin_tb_vaddr(tb);
    block->mode = is_kernel(block->at) ? KERNEL : USER;
    block->instructions = (unsigned)qemu_plugin_tb_n_insns(tb);
    return block;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
    (void)id;
    size_t n = qemu_plugin_tb_n_insns(tb);
    struct block *block = counts ? new_block(tb) : NULL;
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint64_t at = qemu_plugin_insn_vaddr(insn);
        size_t size = qemu_plugin_insn_size(insn);
        struct decoded is = arch->decode(qemu_plugin_insn_data(insn), size, at);
        if (is.mark) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)is.mark);
            if (block) block->has_mark = true;
        }
        if (is.switches)
            /* QEMU 7.2 calls nobody who asks for reads alone without userdata. */
            qemu_plugin_register_vcpu_mem_cb(insn, on_switch, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, tasks);
        if (!block) continue;
        qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, block);
        if (block->mode == USER && is.pushes)
            qemu_plugin_register_vcpu_mem_cb(insn, on_push, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_W, block);
        add_code(block, insn);
        if (i == 0) block->repeats = is.repeats;
        block->drops_tlb |= is.drops_tlb;
        block->makes_syscall |= is.makes_syscall;
        block->atomics[is.atomic]++;
        if (i + 1 < n) continue;
        block->last = at;
        block->next = at + size;
        block->branch = is.branch;
        block->target = is.target;
    }
    if (block) qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, block);
}

/* No translated block is left that could name one of ours. */
static void on_flush(qemu_plugin_id_t id) {
    (void)id;
    pending = NULL;
    while (blocks) {
        struct block *older = blocks->older;
        free(blocks);
        blocks = older;
    }
}

static void begin_again(qemu_plugin_id_t id) {
    on_flush(id);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_flush_cb(id, on_flush);
}

static bool read_store(const char *value, struct sets *sets, unsigned *bits) {
    unsigned long size, ways, line = 1;
    int read = sscanf(value, "%lu:%lu:%lu", &size, &ways, &line);
    if (read < (bits ? 3 : 2) || line == 0 || (line & (line - 1)) != 0) return false;
    if (bits) *bits = (unsigned)__builtin_ctzl(line);
    return sets_init(sets, size / line, ways);
}

static bool read_argument(const char *argument, char btb[64], enum predictor *predictor, unsigned *bits) {
    const char *value = strchr(argument, '=');
    if (!value) return false;
    size_t length = (size_t)(value++ - argument);
#define IS(name) (length == sizeof name - 1 && memcmp(argument, name, length) == 0)
    if (IS("out")) return (out = strdup(value)) != NULL;
    if (IS("l1i")) return read_store(value, &l1i, &line_bits[0]);
    if (IS("l1d")) return read_store(value, &l1d, &line_bits[1]);
    if (IS("l2")) return read_store(value, &l2, &line_bits[2]);
    if (IS("itlb")) return read_store(value, &itlb, NULL);
    if (IS("dtlb")) return read_store(value, &dtlb, NULL);
    if (IS("btb")) return snprintf(btb, 64, "%s", value) < 64;
    if (IS("predictor") && strcmp(value, "local") == 0) return true;
    if (IS("predictor") && sscanf(value, "gshare:%u", bits) == 1) return (*predictor = PREDICTOR_GSHARE) != 0;
#undef IS
    return false;
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv) {
    char btb[64] = "";
    enum predictor predictor = PREDICTOR_LOCAL;
    unsigned bits = 0;
    unsigned long entries, ways;
    for (int i = 0; i < argc; i++)
        if (!read_argument(argv[i], btb, &predictor, &bits)) {
            fprintf(stderr, "count: not understood: %s\n", argv[i]);
            return -1;
        }
    if (!out || !l1i.tags || !l1d.tags || !l2.tags || !itlb.tags || !dtlb.tags || sscanf(btb, "%lu:%lu", &entries, &ways) != 2 ||
        !branches_init(&branches, predictor, bits, entries, ways)) {
        fprintf(stderr, "count: out, l1i, l1d, l2, itlb, dtlb, btb are needed, with sets in powers of two\n");
        return -1;
    }
    arch = arch_of(info->target_name);
    if (!arch || !info->system_emulation || info->system.max_vcpus != 1) {
        fprintf(stderr, "count: %s is not counted, or has more than one processor\n", info->target_name);
        return -1;
    }
    plugin = id;
    current = task_of(0);
    begin_again(id);
    return 0;
}
