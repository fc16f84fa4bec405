import java.io.BufferedWriter;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.lang.annotation.Annotation;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.zip.ZipFile;

/**
 * Says how the JVM that runs it has laid out classes: what the tests of object layout are held against. It asks the JVM
 * itself, so nothing here knows a rule of layout: offsets of declared fields come from Unsafe; sizes of instances, of
 * mirrors, and the fields that the JVM adds come from its own description of the class, found through the structures that
 * it exports.
 *
 * <p>Arguments: modules and folders of class files: all of their classes, their super classes, and {@code java.lang.Class}. JDK 8 has
 * no modules: of it, any stands for the classes of its {@code rt.jar}.
 */
public final class LayoutTruth {
    private static final Memory U = new Memory();
    private static final boolean IS_8 = System.getProperty("sun.boot.class.path") != null;
    private static final boolean IS_64 = U.addressSize() == 8;
    private static final Map<String, Long> OFFSETS = new HashMap<>();
    private static final Map<String, Long> STATICS = new HashMap<>();
    private static final Map<String, Integer> CONSTANTS = new HashMap<>();
    private static Method declaredFields;
    private static PrintWriter out;

    public static void main(String[] arguments) throws Exception {
        // Up to JDK 15 symbols are looked up in libraries that Java code loaded, and in what those need: the JVM.
        Files.exists(Paths.get("/"));
        readStructures();
        readConstants();
        declaredFields = Class.class.getDeclaredMethod("getDeclaredFields0", boolean.class);
        declaredFields.setAccessible(true);
        out = new PrintWriter(new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8)));
        Class<?>[] arrays = {boolean[].class, char[].class, float[].class, double[].class, byte[].class, short[].class,
            int[].class, long[].class, Object[].class};
        for (Class<?> array : arrays) {
            out.println("A\t" + array.getName() + "\t" + U.arrayBaseOffset(array));
        }
        TreeSet<String> names = new TreeSet<>();
        names.add("java.lang.Class");
        for (String argument : arguments) {
            names.addAll(argument.startsWith("/") ? classesBelow(Paths.get(argument)) : classesOf(argument));
        }
        // Super classes too, first: they may be of another module.
        Map<Class<?>, Boolean> said = new HashMap<>();
        for (String name : names) {
            try {
                List<Class<?>> chain = new ArrayList<>();
                for (Class<?> c = Class.forName(name, false, LayoutTruth.class.getClassLoader()); c != null;
                        c = c.getSuperclass()) {
                    chain.add(0, c);
                }
                for (Class<?> c : chain) {
                    if (said.putIfAbsent(c, true) == null) {
                        out.print(describe(c));
                    }
                }
            } catch (Throwable e) {
                // Needs a class that is not there; or the JVM forbids it.
                out.println("X\t" + name + "\t" + e.toString().replace('\n', ' '));
            }
        }
        out.println("done");
        out.flush();
    }

    private static TreeSet<String> classesOf(String module) throws Exception {
        if (IS_8) {
            return classesOf8(System.getProperty("sun.boot.class.path"));
        }
        FileSystem jrt = FileSystems.getFileSystem(URI.create("jrt:/"));
        return classesBelow(jrt.getPath("/modules", module));
    }

    private static TreeSet<String> classesOf8(String boot) throws Exception {
        TreeSet<String> names = new TreeSet<>();
        for (String path : boot.split(":")) {
            if (path.endsWith("/rt.jar")) {
                try (ZipFile jar = new ZipFile(path)) {
                    jar.stream().forEach(entry -> addClass(names, entry.getName()));
                }
            }
        }
        return names;
    }

    private static TreeSet<String> classesBelow(Path root) throws Exception {
        TreeSet<String> names = new TreeSet<>();
        try (Stream<Path> files = Files.walk(root)) {
            files.forEach(file -> addClass(names, root.relativize(file).toString()));
        }
        return names;
    }

    private static void addClass(TreeSet<String> names, String file) {
        if (file.endsWith(".class") && !file.endsWith("module-info.class")) {
            names.add(file.substring(0, file.length() - 6).replace('/', '.'));
        }
    }

    private static String describe(Class<?> c) throws Exception {
        long klass = word(c, STATICS.get("java_lang_Class::_klass_offset"));
        int size = U.getInt(klass + OFFSETS.get("Klass::_layout_helper")) & ~7;
        long mirror = (long) U.getInt(c, STATICS.get("java_lang_Class::_oop_size_offset")) * U.addressSize();
        String above = c.getSuperclass() == null ? "-" : c.getSuperclass().getName();
        StringBuilder text = new StringBuilder();
        String kind = c.isInterface() ? "interface" : "class";
        row(text, "C", c.getName(), above, kind, Long.toString(size), Long.toString(mirror), contended(c.getAnnotations()));
        if (c == Throwable.class && IS_8) {
            // It hides a field from reflection: the first one, behind the only constant.
            long fields = U.getAddress(klass + OFFSETS.get("InstanceKlass::_fields")) + OFFSETS.get("Array<u2>::_data");
            row(text, "F", "backtrace", "reference", Integer.toString(offset(fields + 12)), "-");
        }
        for (Field f : (Field[]) declaredFields.invoke(c, false)) {
            boolean isStatic = Modifier.isStatic(f.getModifiers());
            long offset = isStatic ? U.staticFieldOffset(f) : U.objectFieldOffset(f);
            String type = f.getType().isPrimitive() ? f.getType().getName() : "reference";
            String group = contended(f.getAnnotations());
            row(text, isStatic ? "S" : "F", f.getName(), type, Long.toString(offset), group);
        }
        injected(text, klass);
        return text.toString();
    }

    private static void row(StringBuilder text, String... cells) {
        text.append(String.join("\t", cells)).append('\n');
    }

    /** "-" for none, else "@" and the group. */
    private static String contended(Annotation[] annotations) throws Exception {
        for (Annotation a : annotations) {
            String name = a.annotationType().getName();
            if (name.equals("jdk.internal.vm.annotation.Contended") || name.equals("sun.misc.Contended")) {
                Method value = a.annotationType().getMethod("value");
                return "@" + value.invoke(a);
            }
        }
        return "-";
    }

    // The JVM's own structures.

    private static void readStructures() throws Exception {
        long entry = U.getAddress(symbol("gHotSpotVMStructs"));
        long type = number("gHotSpotVMStructEntryTypeNameOffset");
        long name = number("gHotSpotVMStructEntryFieldNameOffset");
        long isStatic = number("gHotSpotVMStructEntryIsStaticOffset");
        long offset = number("gHotSpotVMStructEntryOffsetOffset");
        long address = number("gHotSpotVMStructEntryAddressOffset");
        long stride = number("gHotSpotVMStructEntryArrayStride");
        for (; U.getAddress(entry + type) != 0; entry += stride) {
            String key = text(U.getAddress(entry + type)) + "::" + text(U.getAddress(entry + name));
            if (U.getInt(entry + isStatic) == 0) {
                OFFSETS.put(key, U.getLong(entry + offset));
            } else {
                long at = U.getAddress(entry + address);
                STATICS.put("&" + key, at);
                STATICS.put(key, (long) U.getInt(at));
            }
        }
    }

    private static void readConstants() throws Exception {
        long entry = U.getAddress(symbol("gHotSpotVMIntConstants"));
        long name = number("gHotSpotVMIntConstantEntryNameOffset");
        long value = number("gHotSpotVMIntConstantEntryValueOffset");
        long stride = number("gHotSpotVMIntConstantEntryArrayStride");
        for (; U.getAddress(entry + name) != 0; entry += stride) {
            CONSTANTS.put(text(U.getAddress(entry + name)), U.getInt(entry + value));
        }
    }

    private static long number(String symbol) throws Exception {
        return U.getLong(symbol(symbol));
    }

    private static long symbol(String name) throws Exception {
        long address;
        try {
            Class<?> loader = Class.forName("jdk.internal.loader.BootLoader");
            Method libraries = loader.getDeclaredMethod("getNativeLibraries");
            libraries.setAccessible(true);
            Object all = libraries.invoke(null);
            Method find = all.getClass().getDeclaredMethod("find", String.class);
            find.setAccessible(true);
            address = (long) find.invoke(all, name);
        } catch (ClassNotFoundException | NoSuchMethodException before16) {
            Method find = ClassLoader.class.getDeclaredMethod("findNative", ClassLoader.class, String.class);
            find.setAccessible(true);
            address = (long) find.invoke(null, null, name);
        }
        if (address == 0) {
            throw new IllegalStateException("no symbol " + name);
        }
        return address;
    }

    private static long word(Object base, long offset) {
        return IS_64 ? U.getLong(base, offset) : U.getInt(base, offset) & 0xffffffffL;
    }

    private static String text(long at) {
        StringBuilder text = new StringBuilder();
        for (; U.getByte(at) != 0; at++) {
            text.append((char) U.getByte(at));
        }
        return text.toString();
    }

    /** The fields that the JVM adds: name, type, offset. */
    private static void injected(StringBuilder text, long klass) {
        Long packed = OFFSETS.get("InstanceKlass::_fields");
        if (packed != null) {
            injectedBefore21(text, klass, U.getAddress(klass + packed));
            return;
        }
        long stream = U.getAddress(klass + OFFSETS.get("InstanceKlass::_fieldinfo_stream"));
        long[] at = {stream + OFFSETS.get("Array<u1>::_data")};
        int declared = unsigned5(at);
        int all = declared + unsigned5(at);
        for (int i = 0; i < all; i++) {
            int name = unsigned5(at);
            int type = unsigned5(at);
            int offset = unsigned5(at);
            unsigned5(at);
            int flags = unsigned5(at);
            // A constant value, a generic signature, a contended group. JDK 28 moved the bits, and says where they are.
            for (String what : new String[] {"initialized", "generic", "contended"}) {
                if ((flags >> CONSTANTS.get("FieldInfo::FieldFlags::_ff_" + what) & 1) != 0) {
                    unsigned5(at);
                }
            }
            if (i >= declared) {
                row(text, "I", vmSymbol(name), vmSymbol(type), Integer.toString(offset), "-");
            }
        }
    }

    private static void injectedBefore21(StringBuilder text, long klass, long fields) {
        int declared = U.getShort(klass + OFFSETS.get("InstanceKlass::_java_fields_count")) & 0xffff;
        long data = fields + OFFSETS.get("Array<u2>::_data");
        int left = U.getInt(fields + OFFSETS.get("Array<int>::_length"));
        for (int i = 0; left >= 6; i++) {
            long at = data + 12L * i;
            int flags = U.getShort(at) & 0xffff;
            // One with a generic signature has its index behind all fields.
            left -= (flags & 0x800) != 0 ? 7 : 6;
            if (i >= declared) {
                row(text, "I", vmSymbol(U.getShort(at + 2) & 0xffff), vmSymbol(U.getShort(at + 4) & 0xffff),
                    Integer.toString(offset(at)), "-");
            }
        }
    }

    /** Of a field, by its six numbers. */
    private static int offset(long at) {
        return (U.getShort(at + 10) & 0xffff) << 14 | (U.getShort(at + 8) & 0xffff) >> 2;
    }

    private static int unsigned5(long[] at) {
        int value = 0;
        for (int i = 0; ; i++) {
            int b = (U.getByte(at[0]++) & 0xff) - 1;
            value += b << 6 * i;
            if (b < 191 || i == 4) {
                return value;
            }
        }
    }

    private static String vmSymbol(int index) {
        Long table = STATICS.get("&Symbol::_vm_symbols[0]");
        if (table == null) {
            table = STATICS.get("&vmSymbols::_symbols[0]");
        }
        long symbol = U.getAddress(table + (long) index * U.addressSize());
        long length = U.getShort(symbol + OFFSETS.get("Symbol::_length")) & 0xffff;
        Long body8 = OFFSETS.get("Symbol::_body");
        long body = symbol + (body8 == null ? OFFSETS.get("Symbol::_body[0]") : body8);
        StringBuilder text = new StringBuilder();
        for (long i = 0; i < length; i++) {
            text.append((char) U.getByte(body + i));
        }
        return text.toString();
    }

    /** The JDK's own access to memory, which has moved since JDK 8: found by name, so that one program serves all. */
    private static final class Memory {
        private final Object unsafe;
        private final MethodHandle getByte;
        private final MethodHandle getShort;
        private final MethodHandle getInt;
        private final MethodHandle getLong;
        private final MethodHandle getAddress;
        private final MethodHandle getIntOf;
        private final MethodHandle getLongOf;
        private final MethodHandle objectFieldOffset;
        private final MethodHandle staticFieldOffset;
        private final MethodHandle arrayBaseOffset;
        private final MethodHandle addressSize;

        Memory() {
            try {
                unsafe = unsafe();
                getByte = method("getByte", long.class);
                getShort = method("getShort", long.class);
                getInt = method("getInt", long.class);
                getLong = method("getLong", long.class);
                getAddress = method("getAddress", long.class);
                getIntOf = method("getInt", Object.class, long.class);
                getLongOf = method("getLong", Object.class, long.class);
                objectFieldOffset = method("objectFieldOffset", Field.class);
                staticFieldOffset = method("staticFieldOffset", Field.class);
                arrayBaseOffset = method("arrayBaseOffset", Class.class);
                addressSize = method("addressSize");
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }

        private static Object unsafe() throws ReflectiveOperationException {
            try {
                return Class.forName("jdk.internal.misc.Unsafe").getMethod("getUnsafe").invoke(null);
            } catch (ClassNotFoundException before9) {
                Field field = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe");
                field.setAccessible(true);
                return field.get(null);
            }
        }

        private MethodHandle method(String name, Class<?>... of) throws ReflectiveOperationException {
            return MethodHandles.lookup().unreflect(unsafe.getClass().getMethod(name, of)).bindTo(unsafe);
        }

        private static Object call(MethodHandle method, Object... arguments) {
            try {
                return method.invokeWithArguments(arguments);
            } catch (Throwable e) {
                throw new IllegalStateException(e);
            }
        }

        int addressSize() {
            return (int) call(addressSize);
        }

        byte getByte(long at) {
            return (byte) call(getByte, at);
        }

        short getShort(long at) {
            return (short) call(getShort, at);
        }

        int getInt(long at) {
            return (int) call(getInt, at);
        }

        long getLong(long at) {
            return (long) call(getLong, at);
        }

        long getAddress(long at) {
            return (long) call(getAddress, at);
        }

        int getInt(Object base, long offset) {
            return (int) call(getIntOf, base, offset);
        }

        long getLong(Object base, long offset) {
            return (long) call(getLongOf, base, offset);
        }

        long objectFieldOffset(Field field) {
            return (long) call(objectFieldOffset, field);
        }

        long staticFieldOffset(Field field) {
            return (long) call(staticFieldOffset, field);
        }

        int arrayBaseOffset(Class<?> array) {
            // An int; a long in some releases.
            return ((Number) call(arrayBaseOffset, array)).intValue();
        }
    }
}
