use super::*;

#[tokio::test(start_paused = true)]
async fn a_measurement_ends_when_nothing_moves_and_not_before() {
    let counter = Counter::default();
    let mut watch = std::pin::pin!(stalled(&counter));
    for _ in 0..10 {
        assert!(tokio::time::timeout(STALL * 3 / 4, &mut watch).await.is_err(), "something moved");
        counter.add(1, 1);
    }
    let begin = tokio::time::Instant::now();
    watch.await;
    assert!(begin.elapsed() >= STALL / 2 && begin.elapsed() <= STALL * 2);
}
