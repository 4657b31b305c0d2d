use super::*;
use crate::config::Config;

const BUFFER: usize = 100_000;

fn window(buffer: usize) -> Window {
    Window::new(&LimitConfig { receive_buffer: buffer, ..Config::rfc().limits }, Memory::default())
}

#[test]
fn counts_bytes_until_the_user_releases_them() {
    let mut window = window(BUFFER);
    window.take(30_000);
    assert_eq!((window.used(), window.current(1)), (30_000, 70_000));
    window.hand_over(30_000);
    assert_eq!(window.current(0), 70_000, "RFC 9260 §6.2 C: not before it is released");
    window.release(Instant::ZERO, 30_000, || None);
    assert_eq!((window.used(), window.current(0)), (0, BUFFER));
}

/// RFC 1122 §4.2.3.3: a closed window does not open by small change.
#[test]
fn avoids_silly_windows() {
    let mut window = window(BUFFER);
    window.take(BUFFER);
    window.hand_over(BUFFER);
    assert_eq!(window.advertise(0), 0);
    window.release(Instant::ZERO, PACKET - 1, || None);
    assert_eq!(window.current(0), 0);
    assert!(!window.update_due(0));
    window.release(Instant::ZERO, 1, || None);
    assert_eq!(window.current(0), PACKET);
    assert!(window.update_due(0));
    assert_eq!(window.advertise(0), PACKET);
    assert!(!window.update_due(0));
}

/// The peer's credit shrinks with what it sends: small change is measured against that, not the last SACK.
#[test]
fn a_window_in_use_does_not_move_by_small_change() {
    let mut window = window(BUFFER);
    window.take(50_000);
    window.hand_over(50_000);
    window.release(Instant::ZERO, PACKET - 1, || None);
    assert_eq!(window.current(0), 50_000);
    window.release(Instant::ZERO, 1, || None);
    assert_eq!(window.current(0), 50_000 + PACKET);
}

/// RFC 9260 §6.2: a window update only if the window can be increased by a quarter of the buffer.
#[test]
fn updates_come_by_quarters() {
    let mut window = window(BUFFER);
    window.take(60_000);
    window.hand_over(60_000);
    window.advertise(0);
    window.release(Instant::ZERO, BUFFER / 4 - 1, || None);
    assert!(!window.update_due(0));
    window.release(Instant::ZERO, 1, || None);
    assert!(window.update_due(0));
    window.advertise(0);
    assert!(!window.update_due(0));
}

#[test]
fn each_item_is_charged() {
    let window = window(BUFFER);
    let most = BUFFER.div_ceil(OVERHEAD);
    assert!(window.fits(1, most - 1));
    assert!(!window.fits(1, most));
    assert_eq!(window.current(most - 100), 100 * OVERHEAD);
    assert_eq!(window.current(most + 5), 0);
}

/// Small messages fill the buffer by their number long before their bytes do. So may few of them go beside it.
#[test]
fn spare_room_is_for_a_few_items() {
    let mut window = window(BUFFER);
    let most = BUFFER.div_ceil(OVERHEAD) + 256_usize.div_ceil(OVERHEAD);
    assert!(!window.fits_spare_room(1, 0));
    window.set_spare_room(256);
    assert!(window.fits_spare_room(1, most - 1));
    assert!(!window.fits_spare_room(1, most));
}

#[test]
fn an_empty_buffer_takes_any_chunk() {
    let mut window = window(4096);
    assert!(window.fits(60_000, 0));
    window.take(60_000);
    assert!(!window.fits(1, 0));
    assert_eq!(window.current(1), 0);
}

#[test]
fn items_are_released_in_proportion() {
    let mut window = window(BUFFER);
    for _ in 0..10 {
        window.take(100);
        window.hand_over(100);
    }
    window.release(Instant::ZERO, 250, || None);
    assert_eq!((window.user_items, window.user_bytes), (8, 750));
    window.release(Instant::ZERO, 749, || None);
    assert_eq!(window.user_items, 1);
    window.release(Instant::ZERO, usize::MAX, || None);
    assert_eq!((window.user_items, window.used()), (0, 0));
}
