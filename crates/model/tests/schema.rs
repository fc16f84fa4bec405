//! Which numbers of a stored form a reader accepts.

use assay_model::schema;

#[test]
fn a_reader_takes_its_own_number_and_refuses_the_next_and_those_before_the_first_release() {
    for id in schema::ALL {
        let (name, number) = id.rsplit_once('/').expect("NAME/N");
        let number: u32 = number.parse().expect("a number");
        assert_eq!(schema::check(id, id), Ok(()));
        let newer =
            schema::check(&format!("{name}/{}", number + 1), id).expect_err("a number that is not known yet");
        assert!(newer.contains(&format!("this version reads {id}: take a newer Assay")), "{newer}");
        let older =
            schema::check(&format!("{name}/{}", number - 1), id).expect_err("a number that nobody released");
        assert!(older.contains(&format!("this version reads {id}: measure again")), "{older}");
    }
    let other = schema::check(schema::GC, schema::MEMORY).expect_err("another format");
    assert_eq!(other, format!("its schema is {}, this version reads {}", schema::GC, schema::MEMORY));
}

#[test]
fn a_format_is_told_from_one_whose_name_begins_alike() {
    assert!(schema::is_of("assay.gc/1", schema::GC) && schema::is_of("assay.gc/99", schema::GC));
    assert!(!schema::is_of(schema::GC_EVENTS, schema::GC) && !schema::is_of("assay.gc", schema::GC));
}
