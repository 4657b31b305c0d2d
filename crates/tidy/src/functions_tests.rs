use super::*;

const CODE: &str = "\
trait Shape {
    fn area(&self) -> u32;
    fn scaled(
        &self,
    ) -> u32;
}

impl Shape for Square {
    fn area(&self) -> u32 {
        if self.side > 1 {
            self.side
        }

    }
    pub(crate) async fn wide(
        a: u32,
    ) -> u32
    where
        u32: Copy,
    {
        a
    }
}

fn short() {}
";

#[test]
fn functions_are_measured_from_signature_to_brace() {
    let expected = [("area", 6), ("wide", 8)];
    let found = of(CODE);
    let found: Vec<_> = found.iter().map(|function| (function.name.as_str(), function.lines)).collect();
    assert_eq!(found, expected);
}
