use super::*;

const HEAD: &str = "INVITE sip:cn@10.0.0.1:5060 SIP/2.0\r\n\
    Via: SIP/2.0/UDP 10.1.0.2:5060;branch=z9hG4bK1\r\nFrom: <sip:a@b>;tag=a\r\nTo: <sip:c@d>\r\n\
    Call-ID: call\r\nCSeq: 3 INVITE\r\n";

fn message(header: &str) -> Message {
    Message::parse(format!("{HEAD}{header}\r\n\r\n").as_bytes()).unwrap()
}

#[test]
fn table_1_of_the_paper() {
    let config = AppliConfig { add: [10, 2, 0, 2].into(), delete: [10, 1, 0, 2].into() };
    assert_eq!(config.to_string(), "Add_IP_Addr=10.2.0.2; Del_IP_Addr=10.1.0.2");
    assert_eq!(AppliConfig::of(&message(&format!("UFA_Appli_Config: {config}"))), Ok(config));
    assert_eq!(
        AppliConfig::of(&message("ufa_appli_config:add_ip_addr=10.2.0.2;del_ip_addr=10.1.0.2")),
        Ok(config)
    );
    let v6 = AppliConfig { add: "2001:db8::2".parse().unwrap(), delete: "2001:db8::1".parse().unwrap() };
    assert_eq!(AppliConfig::of(&message(&format!("UFA_Appli_Config: {v6}"))), Ok(v6));
}

#[test]
fn one_address_for_two_is_refused() {
    let bad = Err(BadHeader(APPLI_CONFIG));
    for header in [
        "UFA_Appli_Config: Add_IP_Addr=10.2.0.2; Del_IP_Addr=10.2.0.2",
        "UFA_Appli_Config: Add_IP_Addr=10.2.0.2",
        "UFA_Appli_Config: Add_IP_Addr=10.2.0.2; Del_IP_Addr=10.2.0",
        "UFA_Appli_Config: Add_IP_Addr=10.2.0.2; Del_IP_Addr=%1",
        "Subject: nothing",
    ] {
        assert_eq!(AppliConfig::of(&message(header)), bad, "{header}");
    }
}

#[test]
fn table_2_of_the_paper() {
    let settings = TerminalSettings {
        mac: HardwareAddress([2, 0, 0, 0, 0xab, 1]),
        essid: "café; \"5% off\"".to_owned(),
        channel: 165,
        gateway: [10, 2, 0, 1].into(),
        netmask: [255, 255, 255, 0].into(),
        address: [10, 2, 0, 2].into(),
        key: None,
    };
    let with_key = TerminalSettings { key: Some("a;key=1".to_owned()), ..settings.clone() };
    assert_eq!(TerminalSettings::of(&message(&format!("UFA_Terminal_Config: {with_key}"))), Ok(with_key));
    let text = settings.to_string();
    let names = ["MAC_Addr=02:00:00:00:ab:01", "ESSID=caf%C3%A9%3B", "Channel=165", "IP_Addr=", "Netmask="];
    for name in names {
        assert!(text.contains(&format!("UFA_GW_T_{name}")), "{text}");
    }
    assert_eq!(TerminalSettings::of(&message(&format!("UFA_Terminal_Config: {text}"))), Ok(settings));
    for without in ["UFA_GW_T_MAC_Addr", "UFA_GW_T_Channel", "UFA_GW_T_Netmask"] {
        let text = text.replace(without, "Else");
        assert!(TerminalSettings::of(&message(&format!("UFA_Terminal_Config: {text}"))).is_err());
    }
}
