// Started by tests: one thread computes and one allocates, both below methods of known names, until the input ends.
public class Recorded {
    static volatile long sink;
    static volatile Object kept;

    public static void main(String[] arguments) throws Exception {
        start("computes-1", new Runnable() {
            public void run() {
                while (true) {
                    sink += outer(20_000);
                }
            }
        });
        start("allocates-1", new Runnable() {
            public void run() {
                while (true) {
                    allocate(4096);
                }
            }
        });
        System.out.println("waiting");
        while (System.in.read() >= 0) {
        }
        System.exit(0);
    }

    private static void start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    static long outer(int rounds) {
        return compute(rounds) + 1;
    }

    static long compute(int rounds) {
        long sum = 0;
        for (int i = 0; i < rounds; i++) {
            sum = sum * 31 + (i ^ sum >>> 7);
        }
        return sum;
    }

    static void allocate(int bytes) {
        kept = new byte[bytes];
        kept = new StringBuilder("shop").append(bytes).toString();
    }
}
