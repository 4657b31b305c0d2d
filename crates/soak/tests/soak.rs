//! A hundred seeds, and the same seed twice. `whimbrel soak` runs thousands.

use whimbrel_soak::{Report, Watch, Worlds, run};

const SEEDS: u64 = 100;

#[test]
fn promises_are_kept() {
    let mut all = Report::default();
    for seed in 1..=SEEDS {
        match run(seed, Worlds::Mixed, Watch::default()) {
            Ok(report) => all += &report,
            Err(failure) => panic!(
                "{}\nwhimbrel soak --worlds mixed --seed {seed} --seeds 1 --pcap soak.pcapng --trace soak.jsonl",
                failure.wrong.join("\n")
            ),
        }
    }
    // The scenarios are as eventful as they are meant to be.
    assert!(all.packets > 20_000 && all.dropped > 500 && all.messages > 5_000, "{all:?}");
    assert!(all.crashes > 5 && all.restarted > 0 && all.aborted > 0 && all.unreachable > 0, "{all:?}");
    assert!(all.moves > 500 && all.attacked > 10, "{all:?}");
}

/// Seeds that once failed. 50335: a SACK larger than the path MTU never arrived (RFC 9260 §6.2). 2826 and 5588: a SHUTDOWN
/// ACK behind AUTH that met a handshake had no answer (RFC 9260 §8.5.1 E, RFC 4895 §6.3). 1936, 2436 and 2465: a host that had
/// moved waited longer and longer between the peer's addresses, and moved on before it had its answer (RFC 5061 §5.1 B3,
/// §5.2 E2). 3563 and 3797: whose SHUTDOWN COMPLETE was lost while it moved, waited for ever.
/// 931003087 to 1795446096, and those that are attacked or mixed: both hosts had moved, and ASCONFs were not tried towards the address
/// where the peer was, for that was not confirmed (RFC 5061 §5.3.2). 953006483 to 3581: a host that had moved after its SHUTDOWN had
/// no answer (§5.1.1 C4). 1795442866, 1795444953 and 1795450222: many paths used up Association.Max.Retrans (RFC 9260 §8.1).
/// 61016969 to 1795460902: T4-rto went by what its path had backed off to in an outage that was over (RFC 5061 §5.1 B3).
/// 61011163 to 1795463488: forged SHUTDOWNs and their answers cut messages short (RFC 9260 §9.2).
/// 931001538: the other cookie of two that began at once made a ghost (RFC 9260 §5.2.4 C). 4346: two hosts asked each other in turn for the
/// other family of one interface. 9100355: DATA in SHUTDOWN-SENT was answered elsewhere (§6.4). 8501503: no HEARTBEAT confirmed the only
/// way for SHUTDOWN ACK (§8.3). 61013270: the user's patience was shorter than its message. 1454 to 4668: an ASCONF was tried from a dead
/// network alone while another one had come up, or what it deletes had come back (RFC 5061 §5.1 B4). 7701307: the peer moved after its
/// SHUTDOWN to an address that nothing had confirmed, and nobody looked for it there (RFC 9260 §8.3). 931016731: an address that was
/// deleted and added again kept a closed path. 931007220: INIT listed more addresses than the INIT ACK that crossed it (§5.2.1).
/// 953025321: the only address of an INIT was gone when the COOKIE ACK was to come. 951207228: paths nothing could leave by took the place
/// of new ones. 950520884 and 951203810: who had sent SHUTDOWN ACK moved (RFC 5061 §5.1.1 C4).
/// 962009030: an INIT that came late restarted nothing (RFC 9260 §5.2.2). 962021892: the only path there may be did not make way. 962032878: COOKIE ACK went to where the
/// peer had been. 951207335 and 962033889: the run ended before its users' patience did. 932079447: SACKs came by a slow path for what had gone by quick ones.
/// 1970008033: SACKs waited ten seconds in a queue that the peer's data had filled at once, and a path that was gone had used up most errors.
/// 931030469: packets of a size that a router had named vanished, and nothing smaller was tried before Association.Max.Retrans was used up (RFC 8899 §4.3).
/// 951008091: the only path there may be led to where nobody had ever answered, and did not make way for where the peer was heard.
/// 951020902: the same, where the peer deleted the address that the path led to, and what it was heard from was known already.
/// 952010955: a translator gave the peer another port before COOKIE ACK got there, and its COOKIE ECHO was taken for a new one (RFC 9260 §5.2.4 D).
/// 950008609 and 950017568: a SACK for all that had arrived minutes ago made a round trip of these minutes, and the first pace was by it.
/// 951010774: the peer repeated an ASCONF after SHUTDOWN ACK, since the answer had been lost, and was not told that all was over.
/// 932008821: a round trip of which nothing but SACKs that were kept back had told had every timeout taken for one that was wrong.
/// 7112: users' messages kept the peer's Hello out. 1177: who waited for a Hello did so for ever. 4792: who was not up was told of an error. 1391: one end was up,
/// and the other one gave up before it was. 981006465: COOKIE ACK was lost, and both ends moved before T1-cookie, which had backed off, expired again.
/// 981017782: a word about keys that had got another TSN on the way was noticed when one end was up. 1795680291: what was said about a renewal waited for its turn, and then was delivered to the user.
/// 14469: a message waited for a window where a slower path had become worth using for it.
/// 931007154: the network became quicker in an outage, and each answer to what T3-rtx had sent again came too soon for one.
/// 931203057: two hosts moved each other from one network that was going down to the next for ever, and no request was left for a deletion.
/// 952206536: addresses that the INIT ACK had named were gone before the cookie came back, and the peer was never told.
/// 932306272, 995500227: readings of four signals came at one instant and were followed one by one, which is no restlessness.
/// 942010258: a host left one address of a network for another of the same, since the first was to be lost by what its signal had done 100 s before.
/// 953505754: a server that had keys, and not yet the client's Hello, told of no new address: it ended a client's association after 300 s.
/// 950002303, 950002708: an address was told before the server was up, and gone when it was: no policy knew that it was to be deleted.
/// 1795938617, 1795938648: one-byte messages filled the buffer through the room that was set aside for a Hello. 41131770: the peer was gone, and no path was
/// confirmed that could have failed. 51139192: an association that had never come up kept the next one from the address of its peer.
/// 1796055916, 953432653: the rest of a message was larger than the window of a peer that could take no more before it had all, and repeated SACKs put the
/// probe off for five minutes (RFC 9260 §6.1 A). 931208566: two hosts that wanted different networks asked for them in the same moment, each time.
const REGRESSIONS: [(Worlds, u64); 114] = [
    (Worlds::Mixed, 202_760_792),
    (Worlds::Mixed, 971_515_441),
    (Worlds::Mixed, 1_796_055_916),
    (Worlds::Controllers, 953_432_653),
    (Worlds::Moving, 931_208_566),
    (Worlds::Protected, 1_795_970_452),
    (Worlds::Protected, 1_795_938_617),
    (Worlds::Protected, 1_795_938_648),
    (Worlds::Protected, 41_131_770),
    (Worlds::Protected, 51_139_192),
    (Worlds::Controllers, 952_720_241),
    (Worlds::Protected, 952_720_241),
    (Worlds::BehindNat, 971_011_618),
    (Worlds::Moving, 942_010_258),
    (Worlds::Moving, 932_306_272),
    (Worlds::Moving, 995_500_227),
    (Worlds::Protected, 952_206_536),
    (Worlds::Moving, 931_203_057),
    (Worlds::Protected, 931_203_057),
    (Worlds::Protected, 931_007_154),
    (Worlds::Moving, 981_006_465),
    (Worlds::Protected, 981_017_782),
    (Worlds::Protected, 1_795_680_291),
    (Worlds::Rough, 932_008_821),
    (Worlds::Protected, 7_112),
    (Worlds::Protected, 1_177),
    (Worlds::Protected, 4_792),
    (Worlds::Protected, 1_391),
    (Worlds::BehindNat, 951_010_774),
    (Worlds::Rough, 950_008_609),
    (Worlds::Rough, 950_017_568),
    (Worlds::Rough, 1_795_663_128),
    (Worlds::Rough, 1_795_665_584),
    (Worlds::Multipath, 14_469),
    (Worlds::BehindNat, 952_010_955),
    (Worlds::Moving, 951_020_902),
    (Worlds::Moving, 951_008_091),
    (Worlds::Rough, 931_030_469),
    (Worlds::Mixed, 1_970_008_033),
    (Worlds::Moving, 962_009_030),
    (Worlds::Moving, 962_021_892),
    (Worlds::BehindNat, 962_032_878),
    (Worlds::Moving, 951_207_335),
    (Worlds::Moving, 962_033_889),
    (Worlds::Standing, 932_079_447),
    (Worlds::Moving, 951_207_228),
    (Worlds::Moving, 950_520_884),
    (Worlds::Moving, 951_203_810),
    (Worlds::BehindNat, 953_025_321),
    (Worlds::Attacked, 7_701_307),
    (Worlds::Attacked, 931_016_731),
    (Worlds::Attacked, 931_007_220),
    (Worlds::Moving, 931_001_538),
    (Worlds::Moving, 4346),
    (Worlds::BehindNat, 9_100_355),
    (Worlds::BehindNat, 8_501_503),
    (Worlds::Standing, 61_013_270),
    (Worlds::Mixed, 61_013_270),
    (Worlds::Rough, 1454),
    (Worlds::Rough, 1678),
    (Worlds::Rough, 2592),
    (Worlds::Rough, 2935),
    (Worlds::Rough, 3276),
    (Worlds::Rough, 3514),
    (Worlds::Rough, 3709),
    (Worlds::Rough, 4491),
    (Worlds::Rough, 4668),
    (Worlds::Standing, 50_335),
    (Worlds::Standing, 2826),
    (Worlds::Standing, 5588),
    (Worlds::Moving, 1936),
    (Worlds::Moving, 2436),
    (Worlds::Moving, 2465),
    (Worlds::Moving, 3563),
    (Worlds::Moving, 3797),
    (Worlds::Moving, 931_003_087),
    (Worlds::Moving, 932_001_605),
    (Worlds::Moving, 932_003_591),
    (Worlds::Moving, 951_004_292),
    (Worlds::Moving, 952_002_820),
    (Worlds::Moving, 954_001_249),
    (Worlds::Moving, 954_004_847),
    (Worlds::Moving, 954_005_901),
    (Worlds::Moving, 951_004_558),
    (Worlds::Moving, 1_795_439_077),
    (Worlds::Moving, 1_795_442_800),
    (Worlds::Moving, 1_795_446_096),
    (Worlds::Moving, 953_006_483),
    (Worlds::Moving, 954_000_006),
    (Worlds::Moving, 1_795_454_737),
    (Worlds::Moving, 3_581),
    (Worlds::Moving, 1_795_442_866),
    (Worlds::Moving, 1_795_444_953),
    (Worlds::Moving, 61_016_969),
    (Worlds::Moving, 1_795_459_194),
    (Worlds::Moving, 1_795_460_246),
    (Worlds::Moving, 1_795_464_039),
    (Worlds::Mixed, 1_795_460_172),
    (Worlds::Mixed, 1_795_460_902),
    (Worlds::Attacked, 932_003_591),
    (Worlds::Attacked, 61_011_163),
    (Worlds::Attacked, 61_019_187),
    (Worlds::Attacked, 1_795_446_350),
    (Worlds::Attacked, 1_795_457_298),
    (Worlds::Attacked, 1_795_457_468),
    (Worlds::Mixed, 1_795_463_488),
    (Worlds::BehindNat, 1_795_450_222),
    (Worlds::Mixed, 900_003_841),
    (Worlds::Moving, 7_701_355),
    (Worlds::Attacked, 947_016_379),
    (Worlds::Moving, 947_033_861),
    (Worlds::Protected, 953_505_754),
    (Worlds::Protected, 950_002_303),
    (Worlds::Protected, 950_002_708),
];

#[test]
fn what_failed_once_is_mended() {
    for (worlds, seed) in REGRESSIONS {
        let failure = run(seed, worlds, Watch::default()).err().map(|failure| failure.wrong);
        assert_eq!(failure, None, "{worlds:?} {seed}");
    }
}

/// Every sort of world comes out the same again, and no sort is empty.
#[test]
fn each_sort_of_world_is_played() {
    for (worlds, moves, attacks) in [
        (Worlds::Standing, false, false),
        (Worlds::Moving, true, false),
        (Worlds::Attacked, true, true),
        (Worlds::BehindNat, true, false),
        (Worlds::Rough, true, false),
        (Worlds::Controllers, true, true),
        (Worlds::Multipath, true, true),
        (Worlds::Protected, true, true),
    ] {
        let mut all = Report::default();
        for seed in 1..=20 {
            let report = run(seed, worlds, Watch::default()).unwrap();
            assert_eq!(report.hash, run(seed, worlds, Watch::default()).unwrap().hash);
            all += &report;
        }
        assert_eq!((all.moves > 0, all.attacked > 0), (moves, attacks), "{worlds:?}");
    }
}

/// Everything is decided by the seed; other seeds make other runs.
#[test]
fn same_seed_same_run() {
    let hash =
        |seed| run(seed, Worlds::Mixed, Watch::default()).map(|report| report.hash).unwrap_or_default();
    let hashes: Vec<u64> = (1..=10).map(hash).collect();
    assert_eq!(hashes, (1..=10).map(hash).collect::<Vec<_>>());
    assert!(hashes.windows(2).all(|pair| pair[0] != pair[1] && pair[0] != 0));
}

/// Watching changes nothing.
#[test]
fn a_replay_is_the_same_run() {
    let silent = run(3, Worlds::Mixed, Watch::default()).map(|report| report.hash);
    let watch = Watch { pcap: Some(Box::new(std::io::sink())), trace: Some(Box::new(std::io::sink())) };
    let watched = run(3, Worlds::Mixed, watch).map(|report| report.hash);
    assert_eq!(silent.ok(), watched.ok());
}
