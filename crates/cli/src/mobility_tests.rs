use super::*;

#[test]
fn windows_have_units_and_bounds() {
    assert_eq!(window("65536"), Ok(65_536));
    assert_eq!(window("25M"), Ok(25_000_000));
    assert_eq!(window("1G"), Ok(1_000_000_000));
    // What an error names can be typed.
    assert_eq!((window("64Ki"), window("16Mi"), window("1Gi")), (Ok(65_536), Ok(1 << 24), Ok(1 << 30)));
    for nonsense in ["0", "65535", "1", "2G", "18446744073709551615"] {
        let text = window(nonsense).unwrap_err();
        assert!(text.contains("64Ki and 1Gi") && text.contains("such as 25M"), "{nonsense}: {text}");
    }
    for nonsense in ["", "-1", "16Mib", "i", "Mi", "much", "99999999T"] {
        assert!(window(nonsense).unwrap_err().contains("such as"), "{nonsense}");
    }
}
