use super::*;

#[test]
fn the_list_has_this_host() {
    let interfaces = collect(&if_addrs::get_if_addrs().unwrap());
    let (_, holder) = interfaces.with_address("127.0.0.1".parse().unwrap()).expect("loopback is everywhere");
    assert_eq!((holder.properties.kind, holder.up), (Some(InterfaceKind::Loopback), Some(true)));
}
