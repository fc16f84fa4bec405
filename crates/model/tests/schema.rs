//! Which versions of a stored form a reader accepts.

use assay_model::schema::is_readable;

#[test]
fn a_reader_takes_its_own_number_and_earlier_ones() {
    for stored in ["assay.gc/1", "assay.gc/2"] {
        assert!(is_readable(stored, "assay.gc/2"), "{stored}");
    }
    for stored in ["assay.gc/3", "assay.gc/0", "assay.gc", "assay.memory/1", ""] {
        assert!(!is_readable(stored, "assay.gc/2"), "{stored}");
    }
}
