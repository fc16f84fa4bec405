// Started by tests: loads classes by loaders of its own and hidden ones, keeps objects of known classes, and says where
// these are: "object NAME RAW", the reference as the heap holds it. Then it says "waiting", and ends with its input.
import java.lang.reflect.Field;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

public class Metadata {
    public static class Payload {
        static long[] shared = new long[3];
        int number = 1;
        long wide = 2;
        Object other = "text";
        byte small = 3;
    }

    static class Loader extends URLClassLoader {
        Loader(String name, URL[] urls) {
            super(name, urls, null);
        }
    }

    static final List<Object> KEPT = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        URL[] urls = {Metadata.class.getProtectionDomain().getCodeSource().getLocation()};
        for (Loader loader : new Loader[] {new Loader("mine", urls), new Loader(null, urls)}) {
            KEPT.add(loader.loadClass("Metadata$Payload").getDeclaredConstructor().newInstance());
        }
        for (int i = 0; i < 3; i++) {
            int captured = i;
            Supplier<Object> hidden = () -> captured;
            KEPT.add(hidden.get());
        }
        Payload payload = new Payload();
        Supplier<Object> hidden = () -> payload.other;
        say("Payload", payload);
        say("PayloadArray", new Payload[7]);
        say("PayloadArrays", new Payload[3][5]);
        say("longs", new long[5][][]);
        say("mirror", Payload.class);
        say("hidden", hidden);
        System.out.println("waiting");
        System.out.flush();
        System.in.read();
        System.out.println(KEPT.size());
    }

    private static void say(String name, Object object) throws Exception {
        KEPT.add(object);
        Field field = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe");
        field.setAccessible(true);
        sun.misc.Unsafe unsafe = (sun.misc.Unsafe) field.get(null);
        Object[] cell = {object};
        KEPT.add(cell);
        long base = unsafe.arrayBaseOffset(Object[].class);
        boolean isNarrow = unsafe.arrayIndexScale(Object[].class) == 4;
        long raw = isNarrow ? unsafe.getInt(cell, base) & 0xffff_ffffL : unsafe.getLong(cell, base);
        System.out.println("object " + name + " " + raw);
    }
}
