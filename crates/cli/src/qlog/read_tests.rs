use super::*;

fn all(bytes: &[u8]) -> anyhow::Result<(Vec<(usize, Value)>, bool)> {
    let mut texts = Texts::new(bytes)?;
    let mut out = Vec::new();
    while let Some(text) = texts.next()? {
        out.push(text);
    }
    Ok((out, texts.is_cut_off))
}

#[test]
fn texts_come_with_their_lines() {
    let (texts, is_cut_off) = all(b"\x1e{\"a\":\n1}\n\x1e\x1e[]\n\x1e2\n").unwrap();
    let lines: Vec<usize> = texts.iter().map(|(line, _)| *line).collect();
    assert_eq!((lines, is_cut_off), (vec![1, 3, 4], false));
}

#[test]
fn what_is_still_being_written_is_left_out() {
    let (texts, is_cut_off) = all(b"\x1e1\n\x1e{\"a\":").unwrap();
    assert_eq!((texts.len(), is_cut_off), (1, true));
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let error = |bytes: &[u8]| format!("{:#}", all(bytes).unwrap_err());
    assert!(error(b"\x1e1\n\x1e{]\n\x1e2\n").starts_with("line 2: no JSON"));
    assert!(error(b"{}").contains("line 1"));
    assert!(error(b"").contains("empty"));
    let mut long = b"\x1e1\n\x1e\"".to_vec();
    long.resize(3 << 20, b'x');
    assert!(error(&long).starts_with("line 2: longer than"));
}
