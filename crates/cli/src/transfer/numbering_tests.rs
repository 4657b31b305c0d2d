use super::*;

#[test]
fn the_next_number_is_found_with_few_questions() {
    for count in [0, 1, 2, 3, 9, 10_000, 1_000_000] {
        let mut asked = 0;
        let free = free_number(|number| {
            asked += 1;
            Ok(number <= count)
        });
        assert_eq!(free.unwrap(), count + 1);
        assert!(asked <= 2 * 20 + 1, "{asked} questions for {count}");
    }
}

#[test]
fn a_gap_does_no_harm_and_there_is_an_end() {
    assert_eq!(free_number(|number| Ok(number != 3)).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    let free = free_number(|number| Ok([1, 2, 4, 5].contains(&number))).unwrap();
    assert!(![1, 2, 4, 5].contains(&free));
    assert!(free_number(|_| Err(io::Error::other("no"))).is_err());
}

#[test]
fn a_long_name_makes_room_for_its_number() {
    let name = numbered(OsStr::new(&"x".repeat(255)), 1234);
    assert!(name.len() == 255 && name.ends_with(b"x.1234"));
}
