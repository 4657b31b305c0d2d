use super::*;

#[test]
fn packets_say_where_they_go_or_are_none() {
    let mut four = vec![0x45; 20];
    four[12..20].copy_from_slice(&[192, 0, 2, 1, 10, 1, 0, 100]);
    let expected: (IpAddr, IpAddr) = ("10.1.0.100".parse().unwrap(), "192.0.2.1".parse().unwrap());
    assert_eq!(addresses(&four), Some(expected));
    assert_eq!(addresses(&four[..19]), None);

    let mut six = vec![0x60; 40];
    six[23] = 1;
    six[39] = 2;
    let (to, from) = addresses(&six).unwrap();
    assert!(to.to_string().ends_with("6002") && from.to_string().ends_with("6001"), "{to} {from}");
    for nothing in [&[][..], &[0x00, 1, 2], &[0x60; 39]] {
        assert_eq!(addresses(nothing), None);
    }
}
