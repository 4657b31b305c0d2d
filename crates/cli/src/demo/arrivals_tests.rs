use super::*;

#[test]
fn the_pause_is_the_longest_wait_after_the_moment() {
    let zero = Instant::now();
    let at = |millis: u64| zero + Duration::from_millis(millis);
    let millis = Duration::from_millis;
    // A long wait before the moment does not count as the pause.
    let list: Vec<Instant> = [0, 50, 52, 54, 56, 58, 61, 300, 302, 305].into_iter().map(at).collect();
    let found = pause(&list, at(62), millis(1000), millis(1000)).unwrap();
    assert_eq!((found.gap, found.begin), (millis(239), at(61)));
    assert_eq!((found.typical, found.longest_before), (millis(2), millis(50)));
    assert_eq!(pause(&list, at(62), millis(1000), millis(100)), None, "nothing arrived within the time");
    assert_eq!(pause(&[], at(0), millis(1), millis(1)), None);
}
