//! One cell for each figure, and one of our own for each kind of experiment, as a fingerprint of everything that happened: a change
//! that is meant to change nothing must leave them as they are.

use sha2::{Digest, Sha256};

use crate::experiment::{PAPER, SEAMLESS};

/// Experiment, series, the number of the cell, and its fingerprint with the seed of the first repetition.
///
/// A cell of e13 is one run that feeds a figure with transfer times and one with TCP's throughput, as they are named here.
pub(crate) const GOLDEN: [(&str, &str, usize, u64); 51] = [
    ("b08_fig07", PAPER, 3, 0x8155_0fcd_3155_4ccb),
    ("b08_fig07", SEAMLESS, 240, 0xcd5c_1a0e_c340_5309),
    ("b08_fig08", PAPER, 14, 0x1dcf_7904_d3a3_7db1),
    ("b08_fig11", PAPER, 0, 0x0b7f_9088_9b5f_8ea2),
    ("b08_fig12_failover", PAPER, 1, 0x9c87_a195_658c_ca60),
    ("b08_fig12", PAPER, 1, 0xf48e_8a6d_43ff_40f5),
    ("b08_fig12", SEAMLESS, 6, 0x0bc3_a520_0d68_c89c),
    ("b08_sbpp", PAPER, 8, 0xd9ab_6cc9_cfd2_69bf),
    ("b08_westwood", PAPER, 4, 0x8f94_3972_2b85_8367),
    // Fastest path first, and round robin.
    ("b08_fpf", PAPER, 0, 0xdfd1_2e56_1b19_50a9),
    ("b08_fpf", PAPER, 1, 0xe7d2_7712_172d_a067),
    ("b08_dar", PAPER, 6, 0x503c_bc9c_8448_dadc),
    ("b08_eq3", PAPER, 8, 0x6153_5901_8bed_fe64),
    // Figure 4: plain mSCTP that stays and that moves, concurrent transfer from fast to slow and from slow to fast.
    ("b09_fig04", PAPER, 0, 0x0e66_ef25_bf02_f2a8),
    ("b09_fig04", PAPER, 1, 0xe61d_2a7a_2e44_6b41),
    ("b09_fig04", PAPER, 10, 0x2629_ea0d_7f7b_3b32),
    ("b09_fig04", PAPER, 22, 0x89a5_0dbe_ab69_3329),
    ("b09_fig04", SEAMLESS, 34, 0x9906_f726_2b7e_dce9),
    ("b09_fig05", PAPER, 12, 0x653f_07cd_aa81_8e10),
    ("b09_fig06", PAPER, 51, 0x2308_fdd7_b14f_f7d7),
    ("b09_pf", PAPER, 3, 0x4f4d_08ef_594e_831a),
    ("b09_cc", PAPER, 0, 0xf837_05bb_4d85_85a0),
    // Figures 3 and 4: one video, one TCP.
    ("e13_lc", PAPER, 1, 0xe73f_28c8_42be_8822),
    ("e13_lc", SEAMLESS, 4, 0x6f63_c88b_0745_9c35),
    // Figures 5 and 6: two videos, one TCP.
    ("e13_lc", PAPER, 6, 0x1c5d_bf26_e8e8_1275),
    // Figure 7: one video, two TCP.
    ("e13_hc", PAPER, 1, 0x730f_022d_1dff_0660),
    // Figure 8: two videos, two TCP.
    ("e13_hc", PAPER, 6, 0x7461_99e2_6e07_d687),
    // Figures 9 and 10: five videos, two TCP; then the other half of Figure 10, with ten TCP.
    ("e13_hc", PAPER, 11, 0x76a2_d689_98a6_564b),
    ("e13_hc", PAPER, 16, 0x1f4e_52ae_ab23_c03f),
    ("c04_range", PAPER, 0, 0x0840_8963_2f58_b9c8),
    ("c04_fig05", PAPER, 1, 0x2cc7_9a4d_1d44_5dac),
    // Figures 6 and 7: both schemes.
    ("c04_fig06", PAPER, 1, 0x6a5a_f592_68a9_b528),
    ("c04_fig06", PAPER, 14, 0xe42a_7656_3352_ccb1),
    ("c04_fig06", SEAMLESS, 16, 0x6b3d_6bd3_3514_ad73),
    // Figures 8 and 9.
    ("c04_fig08", PAPER, 2, 0xbc9d_7fb9_b9d4_5ae9),
    ("c04_fig08", PAPER, 20, 0x2362_7ed4_f138_eb48),
    // Figures 10 and 11.
    ("c04_fig10", PAPER, 3, 0x7894_d4c8_7b65_1322),
    ("c04_fig10", PAPER, 33, 0xb297_a724_ee3c_c7eb),
    ("c04_fig10", "verified", 63, 0xedfc_c22e_3bde_8760),
    ("c04_pingpong", PAPER, 0, 0x1bea_800c_2205_e377),
    // Whether the rule is obeyed.
    ("c04_amm", PAPER, 0, 0xc293_bd4c_8601_b7df),
    // With a probe and without.
    ("c04_probe", PAPER, 0, 0x5265_35f7_d5a3_4848),
    ("c04_probe", PAPER, 2, 0x07fc_8035_8171_405a),
    ("c04_probe", "walk", 4, 0x850c_88d1_33c4_2584),
    // Plain m-SCTP, m-SCTP+ and UFA++ with 13, 6 and 6 handovers.
    ("d10_fig04", PAPER, 4, 0x0564_1acf_c5df_a0a0),
    ("d10_fig04", PAPER, 7, 0x1e48_b41b_efed_ca07),
    ("d10_fig04", PAPER, 22, 0x1d61_2775_b003_aff8),
    // UFA and UFA+ with 2 Mbit/s.
    ("d10_fig05", PAPER, 3, 0x9364_ebda_4cea_3647),
    ("d10_fig05", PAPER, 8, 0x816d_12e1_a13b_b802),
    ("d10_delay", PAPER, 4, 0x7fc9_9803_2681_d480),
    // The order of messages.
    ("d10_msgs", PAPER, 0, 0x4ab1_3bc3_3d62_56f5),
];

/// As [`GOLDEN`], of runs that take minutes where checks are on: an ignored test has them.
pub(crate) const LONG: [(&str, &str, usize, u64); 1] = [("b08_fig10", PAPER, 0, 0x91e1_055e_c12e_9ae6)];

/// As [`GOLDEN`], of runs with alternatives to what is assumed: every choice that is tried, such as TCP with CUBIC, and random loss. Experiment, the
/// last words of what is changed, the number of the cell, and its fingerprint with that and the seed of the first repetition.
pub(crate) const ALTERED: [(&str, &str, usize, u64); 24] = [
    ("b08_fig07", "whole packets", 0, 0x12d5_c4fd_a36d_dc7d),
    ("b08_fig08", "→ down", 0, 0x8918_908b_bb56_714e),
    ("b08_fpf", "→ [\"cuc\", \"sfr\", \"dac\"]", 0, 0x9e68_bf80_1986_e7a4),
    ("b08_fpf", "→ rtx-same", 1, 0xf698_5c7c_9ffb_8874),
    ("b09_fig04", "lowest round trip", 10, 0x715f_53ad_db30_8a43),
    ("b09_fig04", "loss: 0.0 → 0.001", 0, 0x2258_2140_6ede_2dcd),
    ("e13_lc", "loss: 0.0 → 0.001", 0, 0x7e8f_4cf4_048a_494d),
    ("c04_fig06", "loss: 0.0 → 0.01", 0, 0xa04a_6e62_5caf_7092),
    ("b08_fig12", "fresh alternate: true → false", 0, 0xa695_4db4_bb4e_3257),
    ("e13_lc", "primary-only → split", 2, 0xa007_4710_1411_358d),
    ("e13_lc", "variant: sack → cubic", 0, 0x961c_ab11_257d_582a),
    ("e13_lc", "→ measured by a heartbeat", 0, 0xa18b_99b2_f90f_a30b),
    ("e13_lc", "→ as the way there", 0, 0xc92e_5f3e_a0d2_4f6a),
    ("c04_fig06", "mesh → per destination", 0, 0x1f3b_e29e_1ad5_f9ec),
    ("c04_fig06", "kind \"discs\", share_of_radius 0.975", 0, 0x93c7_e7d4_d79e_df84),
    ("c04_fig06", "kind \"line\", overshoot 150.0", 0, 0x0859_8874_f187_93ef),
    ("c04_fig06", "→ mobile-node", 8, 0x6de3_34da_a1f4_6961),
    ("d10_fig05", "cumulative point → any", 3, 0xe700_1b18_0b6b_e1ed),
    ("d10_fig05", "association → path", 3, 0xef95_2c5f_05f9_1558),
    ("d10_fig04", "kick on set primary: false → true", 1, 0x1066_c36e_2db9_0f47),
    ("d10_fig04", "primary-only → split", 1, 0x4fdb_8639_bb20_20d9),
    ("d10_fig04", "(k - 0.5) / ho_nbr, k = 1..ho_nbr", 1, 0xbd63_6222_f7f4_6609),
    ("d10_fig05", "→ 5 and 5A at once", 3, 0x1706_911b_185c_4675),
    ("d10_fig05", "→ 50", 3, 0xa7ae_1ab2_c1d5_409c),
];

/// A fingerprint of what results with other assumptions were made with: how the golden cells' runs in the papers' series, which alone claims look
/// at, went, the set-ups, and what is assumed.
/// Sources may change; where every packet of these samples stays where it was, what was made with the sources before is taken for as good.
pub(crate) fn fingerprint() -> String {
    let mut hasher = Sha256::new();
    for (experiment, series, cell, fingerprint) in
        GOLDEN.into_iter().chain(LONG).filter(|(_, series, ..)| *series == PAPER)
    {
        hasher.update(format!("{experiment} {series} {cell} {fingerprint:016x}\n").as_bytes());
    }
    for (experiment, changed, cell, fingerprint) in ALTERED {
        hasher.update(format!("{experiment} {changed} {cell} {fingerprint:016x}\n").as_bytes());
    }
    for text in [crate::scenario::TEXT, crate::assumptions::TEXT, crate::claims::constants()] {
        hasher.update(text.replace('\r', "").as_bytes());
    }
    hasher.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
#[path = "golden_tests.rs"]
mod tests;
