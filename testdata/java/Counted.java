// Started by tests: keeps a known number of objects of its own classes alive, says "waiting", and then does nothing.
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

public class Counted {
    static class Node {
        Node next;
        int first;
        long second;
        byte third;
        Object fourth;
        boolean fifth;
        static long counter = 7;
        static Object keeper;
        static short small;
    }

    static class Leaf extends Node {
        double weight;
        Leaf other;
    }

    static class Pair {
        final int left;
        final String right;

        Pair(int left, String right) {
            this.left = left;
            this.right = right;
        }
    }

    enum Colour { RED, GREEN, BLUE }

    static final List<Object> KEPT = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < 3_000; i++) {
            KEPT.add(new Node());
        }
        for (int i = 0; i < 2_000; i++) {
            KEPT.add(new Leaf());
            KEPT.add(new Node[i % 17]);
            KEPT.add(new long[i % 5][]);
            KEPT.add(new Pair(i, "pair"));
        }
        for (int i = 0; i < 1_000; i++) {
            KEPT.add(new Colour[i % 3]);
            String text = "a" + i;
            Supplier<String> lambda = () -> text;
            KEPT.add(lambda);
        }
        System.out.println("waiting");
        System.out.flush();
        System.in.read();
        System.out.println(KEPT.size());
    }
}
