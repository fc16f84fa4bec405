// Started by tests: makes objects of many shapes and lengths, keeps some of them and leaves the others as garbage, says
// "waiting", and ends when its input is closed.
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;

public class Objects {
    static long staticLong = 1;
    static byte staticByte = 2;
    static Object staticObject = new Object();

    static class Small {
        byte flag;
    }

    static class Mixed extends Small {
        long wide;
        int number;
        short small;
        Object reference;
        double real;
        boolean yes;
        char letter;
        String text;
        float single;
    }

    static class Kept extends Mixed {
        static int made;
        int[] numbers;
        byte last;
    }

    enum Colour {
        RED,
        GREEN
    }

    static class Pair {
        final Object first;
        final int second;

        Pair(Object first, int second) {
            this.first = first;
            this.second = second;
        }
    }

    static Object shape(int i) {
        switch (i % 13) {
            case 0:
                return new byte[i % 300];
            case 1:
                return new char[i % 77];
            case 2:
                return new int[i % 50];
            case 3:
                return new long[i % 20];
            case 4:
                return new Object[i % 30];
            case 5:
                return new String[i % 3][i % 5];
            case 6:
                return new Small();
            case 7:
                return new Mixed();
            case 8: {
                Kept kept = new Kept();
                kept.numbers = new int[i % 5];
                Kept.made++;
                return kept;
            }
            case 9:
                return new Pair(Colour.values()[i % 2], i);
            case 10:
                return "text " + i;
            case 11: {
                IntSupplier lambda = () -> i;
                return lambda;
            }
            default:
                return new boolean[i % 9];
        }
    }

    public static void main(String[] arguments) throws Exception {
        int many = Integer.getInteger("objects", 200_000);
        boolean leavesGarbage = !Boolean.getBoolean("tidy");
        List<Object> kept = new ArrayList<>();
        Map<Integer, Object> map = new HashMap<>();
        for (int i = 0; i < many; i++) {
            Object made = shape(i);
            if (i % 3 != 0 || !leavesGarbage) {
                kept.add(made);
            }
            if (i % 10 == 0) {
                map.put(i, made);
            }
        }
        kept.add(new long[Integer.getInteger("large", 400_000)]);
        kept.add(new byte[700_001]);
        CountDownLatch started = new CountDownLatch(4);
        for (int i = 0; i < 4; i++) {
            int number = i;
            Thread thread = new Thread(() -> {
                List<Object> own = new ArrayList<>();
                for (int j = 0; j < 100 * number; j++) {
                    own.add(shape(j));
                }
                started.countDown();
                LockSupport.park();
                System.out.println(own.size());
            });
            thread.setDaemon(true);
            thread.start();
        }
        started.await();
        int virtual = Integer.getInteger("virtual", 0);
        if (virtual != 0) {
            java.lang.reflect.Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            CountDownLatch parked = new CountDownLatch(virtual);
            for (int i = 0; i < virtual; i++) {
                int depth = i % 20;
                kept.add(start.invoke(null, (Runnable) () -> descend(depth, parked)));
            }
            parked.await();
            Thread.sleep(200);
        }
        if (Boolean.getBoolean("collect")) {
            System.gc();
        }
        if (Boolean.getBoolean("churn")) {
            for (int i = 0; i < 3; i++) {
                Thread thread = new Thread(Objects::churn);
                thread.setDaemon(true);
                thread.start();
            }
        }
        System.out.println("waiting");
        System.out.flush();
        System.in.read();
        System.out.println(kept.size() + map.size() + staticLong + staticByte + staticObject.hashCode());
    }

    // Makes garbage of every shape as fast as it can, some of it old, and classes that are unloaded while their objects lie
    // in the heap.
    static void churn() {
        Object[] recent = new Object[100_000];
        for (int i = 0; ; i++) {
            recent[i % recent.length] = shape(i);
            if (i % 200_000 == 0) {
                recent[0] = passing();
            }
            if (i % 50_000 == 0) {
                recent[1] = new byte[1 << (i / 50_000 % 22)];
            }
        }
    }

    static Object[] passing() {
        try (java.io.InputStream file = Objects.class.getResourceAsStream("Objects$Small.class")) {
            byte[] bytes = new byte[10_000];
            int length = file.read(bytes);
            Class<?> small = new ClassLoader(null) {
                Class<?> define() {
                    return defineClass(null, bytes, 0, length);
                }
            }.define();
            java.lang.reflect.Constructor<?> make = small.getDeclaredConstructor();
            make.setAccessible(true);
            Object[] made = new Object[1000];
            for (int i = 0; i < made.length; i++) {
                made[i] = make.newInstance();
            }
            return made;
        } catch (ReflectiveOperationException | java.io.IOException e) {
            throw new IllegalStateException(e);
        }
    }

    static void descend(int depth, CountDownLatch parked) {
        if (depth == 0) {
            parked.countDown();
            LockSupport.park();
        } else {
            descend(depth - 1, parked);
        }
    }
}
