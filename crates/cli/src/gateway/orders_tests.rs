use super::*;

/// A gateway that ends after the next one has begun leaves it its socket.
#[test]
fn the_next_gateway_keeps_its_socket() {
    let path = std::env::temp_dir().join(format!("whimbrel-orders-{}", std::process::id()));
    let bind = || {
        let _ = std::fs::remove_file(&path);
        std::os::unix::net::UnixListener::bind(&path).unwrap()
    };
    let _first = bind();
    let ours = file(&path);
    std::thread::sleep(Duration::from_millis(20));
    let _next = bind();
    remove_own(&path, ours);
    assert!(file(&path).is_some());
    remove_own(&path, file(&path));
    assert_eq!(file(&path), None);
}
