//! A JVM under a preloaded allocator, whose own tags say where its blocks are.

use assay_allocators::{BlockState, Survey};
use assay_linux::MemorySource;
use assay_testkit::Running;
use std::path::Path;
use std::process::Command;

/// Threads, direct buffers, deflaters and generated classes, some of them given back; then it waits.
const PROGRAM: &str = r#"
import java.nio.ByteBuffer;
import java.util.*;
import java.util.zip.*;

public class Blocks {
    public static void main(String[] arguments) throws Exception {
        var random = new Random(7);
        var kept = new ArrayList<Object>();
        for (int i = 0; i < 2000; i++) {
            var buffer = ByteBuffer.allocateDirect(1 + random.nextInt(i % 20 == 0 ? 400_000 : 9000));
            if (i % 3 == 0) kept.add(buffer);
        }
        for (int i = 0; i < 60; i++) {
            var deflater = new Deflater();
            deflater.setInput(new byte[1000]);
            deflater.deflate(new byte[100]);
            if (i % 2 == 0) kept.add(deflater); else deflater.end();
        }
        for (int i = 0; i < 24; i++) {
            int number = i;
            var thread = new Thread(() -> {
                var mine = ByteBuffer.allocateDirect(5000 + number);
                for (int j = 0; j < 2000; j++) new String("name" + number + "." + j).intern();
                if (number % 2 == 0) park(mine);
            });
            thread.setDaemon(true);
            thread.start();
        }
        for (int i = 0; i < 3; i++) { System.gc(); Thread.sleep(150); }
        System.out.println("ready");
        park(kept);
    }

    static void park(Object kept) {
        try { Thread.sleep(600_000); } catch (InterruptedException e) { }
        System.out.println(kept);
    }
}
"#;

/// Starts a JVM and stops it in its tracks when its program is ready.
pub fn start_and_stop(java: &Path, library: &Path, folder: &Path) -> Running {
    let program = folder.join("Blocks.java");
    std::fs::write(&program, PROGRAM).expect("a writable file");
    let mut command = Command::new(java);
    command.args(["-Xmx128m", "-XX:NativeMemoryTracking=summary"]).arg(&program);
    let jvm = Running::start(command.env("LD_PRELOAD", library), "ready");
    jvm.freeze();
    jvm
}

/// What the JVM tagged with a header of its own: address and bytes, header and footer included.
///
/// Header: size, a mark, tag, zero, canary; footer: canary. Written down in `mallocHeader.hpp` of JDK 17.0.6 and later.
pub fn tagged_blocks(process: &dyn MemorySource) -> Vec<(u64, u64)> {
    let mut blocks = Vec::new();
    let is_data = |m: &&assay_linux::Mapping| m.permissions.starts_with(b"rw") && !m.is_file();
    for mapping in process.mappings().iter().filter(is_data) {
        for part in process.pages().resident_in(mapping.addresses.clone()) {
            let mut bytes = vec![0; (part.end - part.start) as usize];
            if process.read(part.start, &mut bytes).is_err() {
                continue;
            }
            for (index, header) in bytes.chunks_exact(8).enumerate().skip(1) {
                let size = u64::from_le_bytes(bytes[index * 8 - 8..index * 8].try_into().expect("8 bytes"));
                if header[5..] != [0, 0x9e, 0xe9] || header[4] > 40 || 256 << 30 < size {
                    continue;
                }
                let address = part.start + index as u64 * 8 - 8;
                let mut footer = [0; 2];
                let is_read = process.read(address + 16 + size, &mut footer).is_ok();
                if is_read && footer == [0xe8, 0x8e] {
                    blocks.push((address, size + 18));
                }
            }
        }
    }
    blocks
}

/// Every tagged block lies at the start of a used one, which it fits into.
pub fn assert_tagged_are_used(survey: &Survey, tagged: &[(u64, u64)]) {
    let finder = survey.blocks.finder();
    for (address, bytes) in tagged {
        let block = finder.find(*address).map(|(_, block)| block);
        let is_it =
            block.is_some_and(|b| b.address == *address && b.state == BlockState::Used && *bytes <= b.bytes);
        assert!(is_it, "{bytes} tagged bytes at {address:#x}: the block is {block:x?}");
    }
}
