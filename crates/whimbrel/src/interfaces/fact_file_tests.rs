use std::io::Write;
use std::sync::Arc;

use tempfile::TempDir;

use super::*;
use crate::interfaces::Board;

/// A file, and what a tail of it has published.
struct Bench {
    directory: TempDir,
    board: Arc<Board>,
    publisher: Publisher,
    tail: Tail,
}

impl Bench {
    fn new(content: &str) -> Self {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("links");
        std::fs::write(&path, content).unwrap();
        let board = Board::new(|| {});
        let publisher = Publisher::new(board.clone(), 0);
        let tail = Tail::open(&path).unwrap();
        Self { directory, board, publisher, tail }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("links")
    }

    fn append(&self, text: &str) {
        let mut file = File::options().append(true).open(self.path()).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    /// Reads all there is.
    fn read(&mut self) -> &Interfaces {
        let path = self.path();
        self.tail.follow(&path).unwrap();
        while self.tail.read(&self.publisher).unwrap() {}
        &self.tail.known
    }

    fn complaints(&self) -> Vec<String> {
        self.board.take().complaints.into_iter().map(|complaint| complaint.text).collect()
    }
}

#[test]
fn lines_count_once_they_are_complete() {
    let mut bench = Bench::new("{\"interface\": \"a\", \"up\": true}\n{\"interface\": \"b\", ");
    assert_eq!(bench.read().0.len(), 1);
    bench.append("\"up\": false}");
    assert_eq!(bench.read().0.len(), 1);
    bench.append("\n");
    assert_eq!(bench.read().0["b"].up, Some(false));
}

#[test]
fn a_bad_line_is_named_and_the_next_one_counts() {
    let mut bench = Bench::new("");
    bench.append("{\"interface\": \"a\", \"up\": true}\nnonsense\n");
    bench.append(&"x".repeat(3 * READ_BYTES));
    bench.append("\n{\"interface\": \"a\", \"up\": false}\n");
    assert_eq!(bench.read().0["a"].up, Some(false));
    let complaints = bench.complaints();
    assert_eq!(complaints.len(), 2, "{complaints:?}");
    assert!(
        complaints[0].starts_with("line 2: expected ident at column 2; expected an object"),
        "{complaints:?}"
    );
    assert_eq!(complaints[1], "line 3: longer than 4096 bytes");
    assert!(bench.tail.partial.capacity() < 4 * READ_BYTES, "what is skipped is not kept");
}

#[test]
fn a_file_that_is_cut_short_or_replaced_begins_anew() {
    let mut bench = Bench::new("{\"interface\": \"a\", \"up\": true}\n");
    assert!(bench.read().0.contains_key("a"));
    std::fs::write(bench.path(), "{\"interface\":\"b\"}\n").unwrap();
    assert_eq!(bench.read().0.keys().collect::<Vec<_>>(), ["b"]);
    let new = bench.directory.path().join("new");
    std::fs::write(&new, "{\"interface\": \"c\", \"metered\": true}\n").unwrap();
    std::fs::rename(&new, bench.path()).unwrap();
    assert_eq!(bench.read().0.keys().collect::<Vec<_>>(), ["c"]);
    // With as many bytes as before.
    std::fs::write(bench.path(), "{\"interface\": \"d\", \"metered\": true}\n").unwrap();
    let file = std::fs::File::options().write(true).open(bench.path()).unwrap();
    file.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(1)).unwrap();
    assert_eq!(bench.read().0.keys().collect::<Vec<_>>(), ["d"]);
    // With more bytes than before, and the same beginning.
    let old = "{\"interface\": \"d\", \"metered\": true}\n";
    let lines = format!("{old}{{\"interface\": \"e\"}}\n{old}");
    std::fs::write(bench.path(), &lines).unwrap();
    assert_eq!(bench.read().0.keys().collect::<Vec<_>>(), ["d", "e"]);
    std::fs::write(bench.path(), lines.replace("\"e\"", "\"longer\"") + old).unwrap();
    assert_eq!(bench.read().0.keys().collect::<Vec<_>>(), ["d", "longer"]);
    std::fs::write(bench.path(), "{\"interface\": \"alone\"}\n".repeat(20)).unwrap();
    assert_eq!(bench.read().0.keys().collect::<Vec<_>>(), ["alone"]);
    assert_eq!(bench.complaints(), [""; 0], "nothing is read from its middle");
    // Gone for a moment: what was known stands.
    std::fs::remove_file(bench.path()).unwrap();
    assert_eq!(bench.read().0.len(), 1);
}

/// However long the file is, what is kept of it is not.
#[test]
fn a_long_file_is_followed_and_not_kept() {
    let line = "{\"interface\": \"a\", \"up\": true}\n";
    let mut bench = Bench::new(&line.repeat(20_000));
    bench.read();
    for _ in 0..3 {
        bench.append(line);
        bench.append("{\"interface\": \"b\", \"up\": true}\n");
        assert_eq!(bench.read().0.len(), 2);
    }
    assert_eq!(bench.tail.line, 20_007, "read on, not anew");
    assert!(bench.tail.head.len() == MARK_BYTES && bench.tail.tail.len() == MARK_BYTES);
    assert!(bench.tail.tail.capacity() < 4 * MARK_BYTES);
}

#[test]
fn a_file_that_is_not_there_is_an_error() {
    let directory = TempDir::new().unwrap();
    let missing = FactFile::open(directory.path().join("none")).unwrap_err().to_string();
    assert!(missing.contains("none") && missing.contains("No such file"), "{missing}");
    let directory = FactFile::open(directory.path()).unwrap_err().to_string();
    assert!(directory.contains("not a regular file"), "{directory}");
}

/// A pipe would block whoever opens it until somebody writes, and with it every association.
#[test]
#[cfg(unix)]
fn a_pipe_in_place_of_the_file_is_an_error() {
    let directory = TempDir::new().unwrap();
    let pipe = directory.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_eq!(Tail::open(&pipe).err().unwrap().to_string(), "not a regular file");
}
