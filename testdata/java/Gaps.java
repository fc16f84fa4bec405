// Started by tests: makes a heap with gaps, which collectors fill, and arrays of int that are referred to in every way there is;
// says "waiting", and then does nothing.
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

public class Gaps {
    static final int OBJECTS = 100_000;
    static int[] inAStatic = new int[101];
    static int[][] inAnArray = new int[500][];
    static Object[] kept = new Object[OBJECTS];
    static Node inAField = new Node();
    static final ThreadLocal<int[]> OF_THE_THREAD = new ThreadLocal<>();

    static class Base {
        int before = 1;
        int[] array = new int[103];
    }

    static class Node extends Base {
        long number = 2;
        int[] second = new int[104];
        byte last = 3;
    }

    static void hold() {
        int[] onAVirtualStack = new int[107];
        while (onAVirtualStack.length > 0) {
            LockSupport.park();
        }
    }

    static void holdInAVirtualThread() throws ReflectiveOperationException {
        for (var method : Thread.class.getMethods()) {
            if (method.getName().equals("startVirtualThread")) {
                method.invoke(null, (Runnable) Gaps::hold);
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < inAnArray.length; i++) {
            inAnArray[i] = new int[1 + i % 37];
        }
        Random random = new Random(1);
        for (int i = 0; i < OBJECTS; i++) {
            kept[i] = switch (random.nextInt(3)) {
                case 0 -> new long[random.nextInt(12)];
                case 1 -> new Object[] {i, "number " + i};
                default -> new Object();
            };
        }
        holdInAVirtualThread();
        System.gc();
        // Few enough that collectors leave the others where they are.
        for (int i = 0; i < OBJECTS; i++) {
            if (random.nextInt(100) < 4) {
                kept[i] = null;
            }
        }
        int[] onAStack = new int[105];
        OF_THE_THREAD.set(new int[106]);
        System.out.println("waiting");
        System.in.read();
        System.out.println(onAStack.length);
    }
}
