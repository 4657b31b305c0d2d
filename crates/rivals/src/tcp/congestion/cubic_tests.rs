use super::*;

#[test]
fn cube_roots() {
    for (cube, root) in [(0.0, 0.0), (1e-9, 1e-3), (1.0, 1.0), (27.0, 3.0), (1e12, 1e4)] {
        assert!((cube_root(cube) - root).abs() <= 1e-12 * root, "{cube}");
    }
}

/// RFC 9438 §4.2: K seconds after the reduction the window is where it was before, K = ((1-β)·Wmax / C)^(1/3).
#[test]
fn the_window_is_back_after_k() {
    const MSS: u64 = 1000;
    const WINDOW: u64 = 400 * MSS;
    let mut cubic = Cubic::boxed(MSS, WINDOW);
    cubic.on_loss(Instant::ZERO, WINDOW);
    assert_eq!(cubic.window(), WINDOW * 7 / 10);
    let k_s = cube_root(0.3 * 400.0 / 0.4);
    let rtt = Duration::from_millis(100);
    let mut now = Instant::ZERO;
    while (now + rtt).as_secs_f64() < k_s {
        for _ in 0..cubic.window() / MSS {
            cubic.on_acknowledged(now, MSS, rtt);
        }
        now += rtt;
    }
    let back = cubic.window() as f64 / WINDOW as f64;
    assert!((0.98..1.001).contains(&back), "{back}");
}
