import java.util.ArrayList;
import java.util.List;

/** Uses CPU time in a known way: computing, or making garbage that survives for a while (-Dwork=garbage). */
public class Burning {
    static volatile long sum;

    static long compute(long from) {
        long x = from;
        for (int i = 0; i < 1_000_000; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    static List<Object> garbage() {
        List<Object> kept = new ArrayList<>();
        for (int i = 0; i < 200_000; i++) {
            kept.add(new Object[] {i, kept});
        }
        return kept;
    }

    public static void main(String[] arguments) {
        System.out.println("waiting");
        boolean makesGarbage = "garbage".equals(System.getProperty("work"));
        while (true) {
            sum += makesGarbage ? garbage().size() : compute(sum + 1);
        }
    }
}
