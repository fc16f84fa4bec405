//! What holds of any bytes as lines of a log.

use assay_lines::{Encoding, Prefix, PrefixSearch, unpacked};
use std::io::Read;

/// Unpacked bytes that are looked at: some packed files never end.
const BYTES_MAX: u64 = 1 << 20;

/// Nothing panics, bytes are decoded the same however they come, and a line without a prefix stays as it is.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let mut plain = Vec::new();
    // A damaged file is an error, behind the bytes that were whole.
    let _ = unpacked(&mut &bytes[..], &mut |reader| reader.take(BYTES_MAX).read_to_end(&mut plain).map(drop));
    let text = decoded(&plain, usize::MAX);
    if decoded(&plain, 3) != text {
        return Err("it differs with the portions".to_owned());
    }
    let text = String::from_utf8_lossy(&text);
    for known in ["GC", "[", ""] {
        let mut search = PrefixSearch::default();
        text.lines().take(200).for_each(|line| search.look(line, &|text| text.starts_with(known)));
        let prefix = search.best().unwrap_or_default();
        for line in text.lines().take(200) {
            let stripped = prefix.strip(line);
            // Escapes of JSON become one character, or what is not UTF-8 three bytes.
            if stripped.text.len() > 3 * line.len() {
                return Err(format!("{line:?} became {:?}", stripped.text));
            }
            if Prefix::default().strip(line).text != line {
                return Err(format!("{line:?} has no prefix"));
            }
        }
    }
    Ok(())
}

fn decoded(bytes: &[u8], portion: usize) -> Vec<u8> {
    let mut encoding = Encoding::default();
    let mut text: Vec<u8> = Vec::new();
    bytes.chunks(portion).for_each(|chunk| text.extend_from_slice(&encoding.decoded(chunk)));
    text.extend(encoding.rest());
    text
}
