//! The table of `pmap -X`: a sample of procps 4.0.2, torn and foreign texts, and `pmap` of this machine beside the kernel's own file.

use assay_linux::*;
use assay_testkit::skip;
use proptest::prelude::*;
use std::path::Path;
use std::process::{Command, Stdio};

fn read(text: &str) -> Result<PmapTable, ParseError> {
    parse_pmap(Path::new("pmap.txt"), text)
}

/// Columns of `pmap -XX` are among those of `-X`: the flags have a width of their own.
const TABLE: &str = "\
4242:   java -Dpassword=secret -jar shop.jar
         Address Perm   Offset Device  Inode  Size  Rss Pss Private_Dirty Anonymous Swap        VmFlags Mapping
    558b335c7000 r-xp 0002f000  fe:00 246999   188  188  37             0         0    0    rd ex mr mw java
    7f8bc0097000 rw-p 00000000  00:00      0 65536 1024 512          1024      1024    8 rd wr mr mw me 
    7f8bc8118000 rw-s 00000000  00:01   1234   348  120  17            20         0    0    rd wr sh mr memfd:java_heap (deleted)
                                              ==== ==== === ============= ========= ==== ============= 
                                             66072 1332 566          1044      1024    8               KB 
";

#[test]
fn a_row_is_a_mapping_and_the_command_line_is_not_kept() {
    let table = read(TABLE).expect("a table");
    assert_eq!((table.pid, table.mappings.len(), table.rss_bytes), (4242, 3, Some(1332 << 10)));
    assert_eq!(table.broken, None);
    let [code, anonymous, heap] = table.mappings.as_slice() else { panic!("{table:?}") };
    assert_eq!(code.addresses, 0x558b_335c_7000..0x558b_335f_6000);
    assert_eq!((code.name.as_str(), code.inode, code.offset_bytes), ("java", 246_999, 0x2f000));
    assert!(code.is_executable() && code.is_file());
    assert_eq!((anonymous.name.as_str(), anonymous.rss_bytes), ("", 1 << 20));
    assert_eq!((anonymous.pss_bytes, anonymous.swap_bytes), (Some(512 << 10), Some(8 << 10)));
    assert_eq!((anonymous.private_bytes, anonymous.shared_bytes), (Some(1 << 20), None));
    assert_eq!(heap.name, "memfd:java_heap (deleted)");
    assert!(!format!("{table:?}").contains("secret"));
}

/// As procps prints them where the language is German, Korean or Vietnamese: bytes align, letters do not.
#[test]
fn headings_in_another_language_change_nothing() {
    let expected = read(TABLE).expect("a table");
    let heading = "         Address Perm   Offset Device  Inode  Size";
    for other in [
        "         Adresse Zugr  Versatz Gerät  Inode  Size",
        "      주  소 권  한   Off 장  치 I-노  Size",
        "   Địa chỉ Perm Offset Thiết b  Inode  Size",
    ] {
        for names in ["Mapping", "Zuordnung", "매  핑", "Ánh xạ"] {
            assert_eq!(other.len(), heading.len(), "{other}");
            let text = TABLE.replace(heading, other).replace("VmFlags Mapping", &format!("VmFlags {names}"));
            assert!(!text.contains("Address"));
            assert_eq!(read(&text).expect(other), expected, "{other} {names}");
        }
    }
}

#[test]
fn a_torn_table_keeps_its_whole_rows_and_says_where_it_ends() {
    let rows: Vec<&str> = TABLE.lines().collect();
    let torn = read(&rows[..4].join("\n")).expect("a table");
    assert_eq!((torn.mappings.len(), torn.rss_bytes), (2, None));
    assert!(torn.broken.expect("cut off").to_string().contains("line 4: sums: missing"));
    let within = read(&TABLE[..TABLE.find("1024 512").expect("a row")]).expect("a table");
    assert_eq!((within.mappings.len(), within.broken.map(|error| error.line)), (1, Some(4)));
    let two = read(&format!("{TABLE}{TABLE}")).expect("a table");
    assert_eq!(two.mappings.len(), 3);
    assert!(two.broken.expect("more").to_string().contains("another one follows"));
}

#[test]
fn what_is_no_such_table_is_refused_with_what_lacks() {
    let short = "4242:   java\nAddress           Kbytes     RSS   Dirty Mode  Mapping\n0000558b335c7000     188     188       0 r---- java\n";
    assert!(read(short).expect_err("pmap -x").to_string().contains("no Size: only `pmap -X`"));
    for foreign in [
        "",
        "\n",
        "4242",
        "4242:   java\n",
        "x: y\n Address Perm Size Rss Mapping\n",
        "1: y\n Address Size Mapping\n",
    ] {
        read(foreign).expect_err(foreign);
    }
}

#[test]
fn a_table_of_this_machine_has_the_mappings_of_the_kernels_file() {
    if Command::new("pmap").arg("-V").output().is_err() {
        skip!("no pmap");
    }
    let mut sleeper = Command::new("sleep").arg("600").stdout(Stdio::null()).spawn().expect("sleep");
    let pid = sleeper.id();
    let proc = ProcRoot::default();
    // Until it has become `sleep`, and waits.
    while proc.read_process_stat(pid).is_ok_and(|stat| stat.command != "sleep" || stat.state != 'S') {
        std::thread::yield_now();
    }
    let of_kernel: Vec<Mapping> = proc.open_smaps(pid).expect("smaps").flatten().collect();
    let tables = ["-X", "-XX"].map(|form| {
        let output = Command::new("pmap").args([form, &pid.to_string()]).output().expect("pmap");
        read(&String::from_utf8_lossy(&output.stdout)).expect("a table")
    });
    let _ = (sleeper.kill(), sleeper.wait());
    let figures = |mapping: &Mapping| (mapping.addresses.clone(), mapping.permissions, mapping.rss_bytes);
    for table in tables {
        assert_eq!(table.broken, None);
        assert_eq!(
            table.mappings.iter().map(figures).collect::<Vec<_>>(),
            of_kernel.iter().map(figures).collect::<Vec<_>>()
        );
        assert_eq!(table.rss_bytes, Some(of_kernel.iter().map(|mapping| mapping.rss_bytes).sum()));
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,200}", cut in 0..900_usize, at in 0..900_usize) {
        let _ = read(&text);
        let head: String = TABLE.chars().take(cut).collect();
        let _ = read(&format!("{head}{text}"));
        let mut changed: Vec<char> = TABLE.chars().collect();
        let at = at % changed.len();
        changed.splice(at..at, text.chars());
        let _ = read(&changed.into_iter().collect::<String>());
    }
}
