// CPU time of the threads of one process by what the kernel did for them.
//
// Programs on raw tracepoints (BTF): each says what a thread is in from now on (a system call, a page fault, an interrupt, a soft
// interrupt, user mode), and gives the time since the event before to what it was in until now. So the parts of a thread add up to the time
// for which it was on a processor, by construction. What lies between entering the kernel and the first event, and between the last event
// and leaving it, counts as user mode here; crossing.rs measures how long that is.
//
// A thread's record is changed only by the processor that it is on: no locks, no atomic operations, no copies for each processor. Everything
// is bounded; threads for which there is no room are counted.
//
// What an event costs matters more than anything else here: a busy server has hundreds of thousands in a second. So each processor keeps the
// place of the record that it changed last, which nearly always is the running thread's, and looks a thread up by its number only when it
// is not. Assay reads the records where they lie, without a system call.
//
// Folklore: that place must be held against the running thread at each event. Linux 6.18 on two busy processors now and then gave a thread
// its processor back without the tracepoint of that switch, and 1 to 3 % of the calls of a loop were lost. Held by
// `system_calls_are_counted_one_by_one_and_a_storm_of_them_is_found`.
//
// Built by ./build. The layout of `struct thread` is that of `Record` in ../src/bpf/record.rs.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

#define SEC(name) __attribute__((section(name), used))
#define INLINE static __attribute__((always_inline))
// Once in the object, however many programs take that way.
#define CALLED static __attribute__((noinline))
#define KEPT __attribute__((preserve_access_index))
#define NUMBER(name, value) int(*name)[value]
#define TYPE(name, type) type *name

enum { MAP_HASH = 1, MAP_ARRAY = 2, MAP_PERCPU_ARRAY = 6, MAP_STACK = 23 };
enum { MAPPED = 1 << 10 };

static void *(*map_lookup)(void *map, const void *key) = (void *)1;
static long (*map_update)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static u64 (*ktime_ns)(void) = (void *)5;
static u64 (*current_pid_tgid)(void) = (void *)14;
static long (*map_push)(void *map, const void *value, u64 flags) = (void *)87;
static long (*map_pop)(void *map, void *value) = (void *)88;
static long (*read_kernel)(void *to, u32 size, const void *from) = (void *)113;
static struct task_struct *(*current_task)(void) = (void *)158;

// Of the kernel, as far as needed; where the fields lie, its BTF tells when the programs are loaded.
struct sched_info {
	u64 run_delay;
} KEPT;
struct file {
	const void *f_op;
} KEPT;
struct fdtable {
	u32 max_fds;
	struct file **fd;
} KEPT;
struct files_struct {
	struct fdtable *fdt;
} KEPT;
struct task_struct {
	u32 pid;
	u32 tgid;
	struct sched_info sched_info;
	struct files_struct *files;
} KEPT;
struct pt_regs {
	unsigned long di;
	unsigned long orig_ax;
} KEPT;

enum { TASK_DEAD = 0x80 };
enum { VM_FAULT_RETRY = 0x400 };

// Numbers of the kinds in kinds.rs.
enum {
	USER,
	NETWORK_SEND,
	NETWORK_RECEIVE,
	NETWORK_CONNECTIONS,
	FUTEX,
	POLLING,
	PAGE_FAULTS,
	MEMORY_MAPPINGS,
	FILES,
	SCHEDULING,
	SOFTIRQ,
	INTERRUPTS,
	TIMERS,
	TASKS,
	OTHER_CALLS,
	KINDS = 16
};
// How a row of `kind_of` is refined by what its file descriptor is.
enum { KIND_MASK = 0x1f, REFINED = 0xe0, READS = 0x20, WRITES = 0x40, MANAGES = 0x60 };

enum { CALLS_MAX = 512, SOFTIRQS = 16, DELAYS = 32 };
enum { FAULT_USER = 1, FAULT_KERNEL = 2 };

// The process whose threads are followed, and a thread of Assay that tries the programs.
const volatile u32 target = 0;
const volatile u32 tester = 0;
// What each system call is for.
const volatile u8 kind_of[CALLS_MAX] = {};
// Whether the end of a page fault is seen.
const volatile u8 times_faults = 0;

struct sum {
	u64 count;
	u64 ns;
};

struct thread {
	u64 last_ns;        // on a processor: the last event; else 0
	u64 off_since_ns;   // when it left its processor
	u64 off_ns;         // how long it was away the last time, and not yet given to anything
	u64 unknown_ns;     // before the first event told in what it is
	u64 run_delay_ns;   // the kernel's, at the last switch
	u64 call_ns;        // of the system call that it is in
	u64 call_blocked_ns;
	u64 fault_ns;       // of the fault that it is in
	u64 softirq_ns;     // of the soft interrupt that it is in
	u32 call;           // number of the system call, and one
	u32 call_blocked;
	u8 kind;            // of that call; USER outside
	u8 fault;
	u8 irqs;
	u8 softirq;         // vector, and one
	u8 is_known;        // whether it is known in what it is
	u8 is_blocked;      // left its processor to wait
	u8 has_ended;
	u8 has_delay;
	u8 off_kind;
	u8 pad[3];
	u32 off_call;
	u32 tid;            // whose record it is; 0: nobody's
	u32 unused;
	struct sum by[KINDS];
	struct sum blocked[KINDS];
	struct sum faults_user;
	struct sum faults_kernel;
	struct sum delay;
	u64 voluntary;
	u64 forced;
};

struct call {
	u64 count;
	u64 ns;
	u64 blocked;
	u64 blocked_ns;
};

// The records. A record stays where it is until Assay has read that its thread has ended.
struct {
	NUMBER(type, MAP_ARRAY);
	NUMBER(map_flags, MAPPED);
	NUMBER(max_entries, 4096);
	TYPE(key, u32);
	TYPE(value, struct thread);
} threads SEC(".maps");
// Places without a record; Assay puts them there.
struct {
	NUMBER(type, MAP_STACK);
	NUMBER(max_entries, 4096);
	TYPE(value, u32);
} free_places SEC(".maps");
// The place of a thread's record, by its number.
struct {
	NUMBER(type, MAP_HASH);
	NUMBER(max_entries, 4096);
	TYPE(key, u32);
	TYPE(value, u32);
} places SEC(".maps");
// The place of the record that this processor changed last.
struct {
	NUMBER(type, MAP_PERCPU_ARRAY);
	NUMBER(max_entries, 1);
	TYPE(key, u32);
	TYPE(value, u32);
} last_place SEC(".maps");
struct {
	NUMBER(type, MAP_PERCPU_ARRAY);
	NUMBER(max_entries, CALLS_MAX);
	TYPE(key, u32);
	TYPE(value, struct call);
} calls SEC(".maps");
struct {
	NUMBER(type, MAP_PERCPU_ARRAY);
	NUMBER(max_entries, SOFTIRQS);
	TYPE(key, u32);
	TYPE(value, struct sum);
} softirqs SEC(".maps");
// Waits for a processor by their length: below 1 µs, 2 µs, 4 µs and so on.
struct {
	NUMBER(type, MAP_PERCPU_ARRAY);
	NUMBER(max_entries, DELAYS);
	TYPE(key, u32);
	TYPE(value, u64);
} delays SEC(".maps");
// 0: times that there was no room for a thread.
struct {
	NUMBER(type, MAP_PERCPU_ARRAY);
	NUMBER(max_entries, 1);
	TYPE(key, u32);
	TYPE(value, u64);
} lost SEC(".maps");
// Operations of files: 0: those that the tester read last; 1: of an eventfd; 2: of a timerfd; 3: of a socket.
enum { LAST, EVENTFD, TIMERFD, SOCKET, OPERATIONS };
struct {
	NUMBER(type, MAP_ARRAY);
	NUMBER(max_entries, OPERATIONS);
	TYPE(key, u32);
	TYPE(value, u64);
} operations SEC(".maps");

// No place: there was no room, or this processor has not changed a record yet. Assay gives away those above.
enum { NOWHERE = 0 };

INLINE int is_followed(u32 tgid, u32 tid)
{
	return tgid == target || tid == tester;
}

INLINE struct thread *record_at(u32 place)
{
	return map_lookup(&threads, &place);
}

INLINE u32 no_room(void)
{
	u32 zero = 0;
	u64 *count = map_lookup(&lost, &zero);
	if (count)
		*count += 1;
	return NOWHERE;
}

INLINE u32 new_place(u32 tid)
{
	u32 place = NOWHERE;
	if (map_pop(&free_places, &place))
		return no_room();
	struct thread *thread = record_at(place);
	if (!thread || map_update(&places, &tid, &place, 0)) {
		map_push(&free_places, &place, 0);
		return no_room();
	}
	thread->tid = tid;
	return place;
}

// The place of a thread's record by its number.
CALLED u32 place_of(u32 tid)
{
	u32 *known = map_lookup(&places, &tid);
	struct thread *thread = known ? record_at(*known) : 0;
	// One that has ended had the same number, and nobody has read its record yet.
	return thread && !thread->has_ended ? *known : new_place(tid);
}

// The record of a thread that is followed.
INLINE struct thread *record_of(u32 tid)
{
	u32 zero = 0;
	u32 *last = map_lookup(&last_place, &zero);
	if (!last)
		return 0;
	struct thread *thread = *last == NOWHERE ? 0 : record_at(*last);
	if (thread && thread->tid == tid && !thread->has_ended)
		return thread;
	*last = place_of(tid);
	return *last == NOWHERE ? 0 : record_at(*last);
}

// The record of the running thread, if it is followed.
INLINE struct thread *running(void)
{
	u64 both = current_pid_tgid();
	return is_followed(both >> 32, (u32)both) ? record_of((u32)both) : 0;
}

// Gives the time since the last event to what the thread was in.
INLINE void spend(struct thread *thread, u64 now)
{
	u64 ns = thread->last_ns && thread->last_ns < now ? now - thread->last_ns : 0;
	thread->last_ns = now;
	if (thread->irqs) {
		thread->by[INTERRUPTS].ns += ns;
	} else if (thread->softirq) {
		thread->by[SOFTIRQ].ns += ns;
		thread->softirq_ns += ns;
	} else if (!thread->is_known) {
		thread->unknown_ns += ns;
	} else if (thread->fault) {
		thread->fault_ns += ns;
	} else {
		thread->by[thread->kind & 15].ns += ns;
		thread->call_ns += ns;
	}
}

// What the thread was in until now turns out to be a call of this kind, or user mode.
INLINE void now_known(struct thread *thread, u8 kind)
{
	if (!thread->is_known) {
		thread->by[kind & 15].ns += thread->unknown_ns;
		thread->call_ns += thread->unknown_ns;
		thread->unknown_ns = 0;
		thread->is_known = 1;
	}
}

// A fault that did not end as faults do was something else, such as a signal.
INLINE void give_up_fault(struct thread *thread)
{
	if (thread->fault) {
		thread->by[thread->kind & 15].ns += thread->fault_ns;
		thread->call_ns += thread->fault_ns;
		thread->fault_ns = 0;
		thread->fault = 0;
	}
}

INLINE int are_operations(u32 kind, u64 ops)
{
	u64 *known = map_lookup(&operations, &kind);
	return known && *known == ops;
}

INLINE u8 refined(u8 row, u32 fd, u32 is_tester)
{
	u8 kind = row & KIND_MASK;
	struct task_struct *task = current_task();
	struct files_struct *files = task->files;
	if (!files)
		return kind;
	struct fdtable *fdt = files->fdt;
	if (!fdt || fdt->max_fds <= fd)
		return kind;
	struct file *file = 0;
	u64 ops = 0;
	if (read_kernel(&file, sizeof(file), fdt->fd + fd) || !file || read_kernel(&ops, sizeof(ops), &file->f_op))
		return kind;
	if (are_operations(SOCKET, ops)) {
		u8 how = row & REFINED;
		return how == READS ? NETWORK_RECEIVE : how == WRITES ? NETWORK_SEND : NETWORK_CONNECTIONS;
	}
	if (are_operations(EVENTFD, ops))
		return POLLING;
	if (are_operations(TIMERFD, ops))
		return TIMERS;
	if (is_tester) {
		u32 last = LAST;
		map_update(&operations, &last, &ops, 0);
	}
	return kind;
}

SEC("tp_btf/sys_enter")
int on_sys_enter(u64 *ctx)
{
	struct thread *thread = running();
	if (!thread)
		return 0;
	u32 number = ctx[1];
	u8 kind = OTHER_CALLS;
	if (number < CALLS_MAX) {
		u8 row = kind_of[number];
		kind = row & KIND_MASK;
		if (row & REFINED) {
			struct pt_regs *regs = (void *)ctx[0];
			kind = refined(row, regs->di, thread->tid == tester);
		}
	}
	kind &= 15;
	now_known(thread, USER);
	give_up_fault(thread);
	spend(thread, ktime_ns());
	thread->call = number + 1;
	thread->call_ns = 0;
	thread->call_blocked = 0;
	thread->call_blocked_ns = 0;
	thread->kind = kind;
	thread->by[kind].count += 1;
	return 0;
}

SEC("tp_btf/sys_exit")
int on_sys_exit(u64 *ctx)
{
	struct thread *thread = running();
	if (!thread)
		return 0;
	spend(thread, ktime_ns());
	u32 number = thread->call - 1;
	if (!thread->is_known) {
		struct pt_regs *regs = (void *)ctx[0];
		number = regs->orig_ax;
		u8 kind = number < CALLS_MAX ? kind_of[number] & 15 : OTHER_CALLS;
		now_known(thread, kind);
		thread->by[kind].count += 1;
		thread->kind = kind;
	}
	give_up_fault(thread);
	if (number < CALLS_MAX && thread->tid != tester) {
		struct call *call = map_lookup(&calls, &number);
		if (call) {
			call->count += 1;
			call->ns += thread->call_ns;
			call->blocked += thread->call_blocked;
			call->blocked_ns += thread->call_blocked_ns;
		}
	}
	thread->call = 0;
	thread->kind = USER;
	return 0;
}

INLINE u32 log2_of(u64 us)
{
	u32 bucket = 0;
	if (us >> 16) {
		bucket += 16;
		us >>= 16;
	}
	if (us >> 8) {
		bucket += 8;
		us >>= 8;
	}
	if (us >> 4) {
		bucket += 4;
		us >>= 4;
	}
	if (us >> 2) {
		bucket += 2;
		us >>= 2;
	}
	if (us >> 1) {
		bucket += 1;
		us >>= 1;
	}
	return (bucket + us) & (DELAYS - 1);
}

// The wait for this turn on the processor is over since it began: the kernel has added it to its own sum.
INLINE void end_wait(struct thread *thread, u64 run_delay_ns, u32 is_counted)
{
	u64 waited = run_delay_ns - thread->run_delay_ns;
	u32 has_delay = thread->has_delay;
	thread->run_delay_ns = run_delay_ns;
	thread->has_delay = 1;
	if (!has_delay)
		return;
	thread->delay.ns += waited;
	thread->delay.count += 1;
	if (is_counted) {
		u32 bucket = log2_of(waited / 1000);
		u64 *count = map_lookup(&delays, &bucket);
		if (count)
			*count += 1;
	}
	// What it was away for on top of that it was blocked.
	if (thread->off_ns) {
		u64 ns = waited < thread->off_ns ? thread->off_ns - waited : 0;
		struct sum *blocked = &thread->blocked[thread->off_kind & 15];
		blocked->count += 1;
		blocked->ns += ns;
		if (thread->off_call && thread->off_call == thread->call) {
			thread->call_blocked += 1;
			thread->call_blocked_ns += ns;
		}
		thread->off_ns = 0;
	}
}

INLINE void leaves(struct thread *thread, struct task_struct *task, u64 now, u32 state, u32 is_preempted)
{
	if (!thread)
		return;
	spend(thread, now);
	end_wait(thread, task->sched_info.run_delay, thread->tid != tester);
	thread->last_ns = 0;
	thread->irqs = 0;
	thread->softirq = 0;
	thread->off_since_ns = now;
	thread->is_blocked = !is_preempted && state;
	thread->off_kind = thread->kind;
	thread->off_call = thread->call;
	if (thread->is_blocked)
		thread->voluntary += 1;
	else
		thread->forced += 1;
	if (state & TASK_DEAD)
		thread->has_ended = 1;
}

INLINE void comes(struct thread *thread, struct task_struct *task, u64 now)
{
	if (!thread)
		return;
	if (!thread->has_delay) {
		thread->run_delay_ns = task->sched_info.run_delay;
		thread->has_delay = 1;
	}
	if (thread->off_since_ns && thread->is_blocked)
		thread->off_ns = now - thread->off_since_ns;
	thread->off_since_ns = 0;
	thread->is_blocked = 0;
	thread->last_ns = now;
}

SEC("tp_btf/sched_switch")
int on_sched_switch(u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1];
	struct task_struct *next = (void *)ctx[2];
	u32 from = is_followed(prev->tgid, prev->pid);
	u32 to = is_followed(next->tgid, next->pid);
	if (!from && !to)
		return 0;
	u64 now = ktime_ns();
	if (from)
		leaves(record_of(prev->pid), prev, now, ctx[3], ctx[0]);
	if (to)
		comes(record_of(next->pid), next, now);
	return 0;
}

INLINE int fault_begins(u8 mode)
{
	struct thread *thread = running();
	if (!thread)
		return 0;
	if (mode == FAULT_USER) {
		thread->faults_user.count += 1;
		thread->by[PAGE_FAULTS].count += 1;
	} else {
		thread->faults_kernel.count += 1;
	}
	if (!times_faults || thread->irqs || thread->softirq)
		return 0;
	if (mode == FAULT_USER)
		now_known(thread, USER);
	give_up_fault(thread);
	spend(thread, ktime_ns());
	thread->fault = mode;
	return 0;
}

SEC("tp_btf/page_fault_user")
int on_page_fault_user(u64 *ctx)
{
	return fault_begins(FAULT_USER);
}

SEC("tp_btf/page_fault_kernel")
int on_page_fault_kernel(u64 *ctx)
{
	return fault_begins(FAULT_KERNEL);
}

INLINE int fault_ends(u64 now, u32 is_retried)
{
	struct thread *thread = running();
	if (!thread || !thread->fault || thread->irqs || thread->softirq || is_retried)
		return 0;
	spend(thread, now);
	u64 ns = thread->fault_ns;
	if (thread->fault == FAULT_USER) {
		thread->faults_user.ns += ns;
		thread->by[PAGE_FAULTS].ns += ns;
	} else {
		// In the middle of a system call: part of it.
		thread->faults_kernel.ns += ns;
		thread->by[thread->kind & 15].ns += ns;
		thread->call_ns += ns;
	}
	thread->fault_ns = 0;
	thread->fault = 0;
	return 0;
}

// The work of a fault ends; what is called for other reasons than a fault has none open.
SEC("fexit/handle_mm_fault")
int on_fault_handled(u64 *ctx)
{
	return fault_ends(ktime_ns(), ctx[4] & VM_FAULT_RETRY);
}

// Where the kernel refuses programs at the end of a function: a fault that maps a page counts it shortly before its end.
SEC("tp_btf/rss_stat")
int on_rss_stat(u64 *ctx)
{
	return fault_ends(ktime_ns(), 0);
}

INLINE int irq_begins(void)
{
	struct thread *thread = running();
	if (thread && thread->last_ns) {
		spend(thread, ktime_ns());
		thread->irqs += 1;
		thread->by[INTERRUPTS].count += 1;
	}
	return 0;
}

INLINE int irq_ends(void)
{
	u64 now = ktime_ns();
	struct thread *thread = running();
	if (thread && thread->irqs) {
		spend(thread, now);
		thread->irqs -= 1;
	}
	return 0;
}

#define INTERRUPT(name)                                                                                                  \
	SEC("tp_btf/" #name "_entry") int on_##name##_entry(u64 *ctx)                                                          \
	{                                                                                                                      \
		return irq_begins();                                                                                           \
	}                                                                                                                      \
	SEC("tp_btf/" #name "_exit") int on_##name##_exit(u64 *ctx)                                                            \
	{                                                                                                                      \
		return irq_ends();                                                                                             \
	}

INTERRUPT(irq_handler)
INTERRUPT(local_timer)
INTERRUPT(reschedule)
INTERRUPT(call_function)
INTERRUPT(call_function_single)
INTERRUPT(irq_work)

SEC("tp_btf/softirq_entry")
int on_softirq_entry(u64 *ctx)
{
	struct thread *thread = running();
	if (thread && thread->last_ns && !thread->softirq) {
		spend(thread, ktime_ns());
		thread->softirq = (ctx[0] & (SOFTIRQS - 1)) + 1;
		thread->softirq_ns = 0;
		thread->by[SOFTIRQ].count += 1;
	}
	return 0;
}

SEC("tp_btf/softirq_exit")
int on_softirq_exit(u64 *ctx)
{
	u64 now = ktime_ns();
	struct thread *thread = running();
	if (!thread || !thread->softirq)
		return 0;
	spend(thread, now);
	u32 vector = (thread->softirq - 1) & (SOFTIRQS - 1);
	struct sum *sum = map_lookup(&softirqs, &vector);
	if (sum && thread->tid != tester) {
		sum->count += 1;
		sum->ns += thread->softirq_ns;
	}
	thread->softirq = 0;
	return 0;
}

// The kernel lets only programs under this licence, or one that is compatible, read its clock.
char _license[] SEC("license") = "Dual MIT/GPL";
