use super::*;

/// RFC 5061 §5.2 E7: what does not fit the packet is left out, and so is everything behind it, however small. A packet full of
/// repetitions costs no more memory than its answer.
#[test]
fn the_answers_to_one_packet_fit_one_packet() {
    let mut answers = PacketAnswers::default();
    (0..4000).for_each(|_| answers.push(&[0; 980]));
    assert_eq!(answers.answers.len(), 1);
    answers.push(&[0; 8]);
    assert_eq!(answers.answers.len(), 1);
}
