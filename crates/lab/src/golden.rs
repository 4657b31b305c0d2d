//! One cell for each figure, and one of our own for each kind of experiment, as a fingerprint of everything that happened: a change
//! that is meant to change nothing must leave them as they are.

use sha2::{Digest, Sha256};

use crate::experiment::{PAPER, SEAMLESS};

/// Experiment, series, the number of the cell, and its fingerprint with the seed of the first repetition.
///
/// A cell of e13 is one run that feeds a figure with transfer times and one with TCP's throughput, as they are named here.
pub(crate) const GOLDEN: [(&str, &str, usize, u64); 51] = [
    ("b08_fig07", PAPER, 3, 0x8cb4_b21e_b9ae_72fc),
    ("b08_fig07", SEAMLESS, 240, 0xcd5c_1a0e_c340_5309),
    ("b08_fig08", PAPER, 14, 0x0700_1e47_d879_69a1),
    ("b08_fig11", PAPER, 0, 0x5784_2be3_4723_59a7),
    ("b08_fig12_failover", PAPER, 1, 0x74e4_9594_6258_8f0f),
    ("b08_fig12", PAPER, 1, 0xbc20_6df2_e575_db59),
    ("b08_fig12", SEAMLESS, 6, 0x0bc3_a520_0d68_c89c),
    ("b08_sbpp", PAPER, 8, 0xf539_5de5_4b6a_a6a0),
    ("b08_westwood", PAPER, 4, 0x8731_6190_198a_70d4),
    // Fastest path first, and round robin.
    ("b08_fpf", PAPER, 0, 0x2c9a_0014_e153_9068),
    ("b08_fpf", PAPER, 1, 0xe43c_fad9_69df_8639),
    ("b08_dar", PAPER, 6, 0x3539_0b2d_2d7c_9b59),
    ("b08_eq3", PAPER, 8, 0x8974_1bfc_e3d9_8680),
    // Figure 4: plain mSCTP that stays and that moves, concurrent transfer from fast to slow and from slow to fast.
    ("b09_fig04", PAPER, 0, 0x5979_60ac_34f4_95d7),
    ("b09_fig04", PAPER, 1, 0x3777_21c6_7d87_775d),
    ("b09_fig04", PAPER, 10, 0x11fa_39e3_f825_4453),
    ("b09_fig04", PAPER, 22, 0xd21b_7039_c42e_0b3b),
    ("b09_fig04", SEAMLESS, 34, 0x9906_f726_2b7e_dce9),
    ("b09_fig05", PAPER, 12, 0x71c5_31a0_d86b_00a2),
    ("b09_fig06", PAPER, 51, 0xb622_5f4c_c229_e297),
    ("b09_pf", PAPER, 3, 0x0371_8d76_3dad_45f5),
    ("b09_cc", PAPER, 0, 0xc7ee_9c3e_6986_633d),
    // Figures 3 and 4: one video, one TCP.
    ("e13_lc", PAPER, 1, 0xabe1_2a73_3dea_76e1),
    ("e13_lc", SEAMLESS, 4, 0x6f63_c88b_0745_9c35),
    // Figures 5 and 6: two videos, one TCP.
    ("e13_lc", PAPER, 6, 0xa7fa_0998_4ce4_91e6),
    // Figure 7: one video, two TCP.
    ("e13_hc", PAPER, 1, 0xd70e_dae6_2a12_4f27),
    // Figure 8: two videos, two TCP.
    ("e13_hc", PAPER, 6, 0x2aa8_9ba3_3889_e474),
    // Figures 9 and 10: five videos, two TCP; then the other half of Figure 10, with ten TCP.
    ("e13_hc", PAPER, 11, 0x2f22_8252_8db6_9ba1),
    ("e13_hc", PAPER, 16, 0x9063_be72_e18b_de40),
    ("c04_range", PAPER, 0, 0x0840_8963_2f58_b9c8),
    ("c04_fig05", PAPER, 1, 0x2213_34e1_b064_c60b),
    // Figures 6 and 7: both schemes.
    ("c04_fig06", PAPER, 1, 0xd00e_057b_6a21_776b),
    ("c04_fig06", PAPER, 14, 0xe42a_7656_3352_ccb1),
    ("c04_fig06", SEAMLESS, 16, 0x6b3d_6bd3_3514_ad73),
    // Figures 8 and 9.
    ("c04_fig08", PAPER, 2, 0xf805_f36a_b075_65cb),
    ("c04_fig08", PAPER, 20, 0x2362_7ed4_f138_eb48),
    // Figures 10 and 11.
    ("c04_fig10", PAPER, 3, 0x6b32_1fe7_53b8_8fb1),
    ("c04_fig10", PAPER, 33, 0xb297_a724_ee3c_c7eb),
    ("c04_fig10", "verified", 63, 0xbe60_5ad0_79cc_5f8c),
    ("c04_pingpong", PAPER, 0, 0xd13b_b33d_9f34_a226),
    // Whether the rule is obeyed.
    ("c04_amm", PAPER, 0, 0xc293_bd4c_8601_b7df),
    // With a probe and without.
    ("c04_probe", PAPER, 0, 0x936f_2d49_116c_8721),
    ("c04_probe", PAPER, 2, 0x2dbe_f5f8_ed71_a62a),
    ("c04_probe", "walk", 4, 0x3334_efcb_c9c4_d55b),
    // Plain m-SCTP, m-SCTP+ and UFA++ with 13, 6 and 6 handovers.
    ("d10_fig04", PAPER, 4, 0x6434_b1ce_53fa_9b8c),
    ("d10_fig04", PAPER, 7, 0xdc10_7b57_c3dd_b60d),
    ("d10_fig04", PAPER, 22, 0x422e_c7d0_4e6f_6353),
    // UFA and UFA+ with 2 Mbit/s.
    ("d10_fig05", PAPER, 3, 0x824b_e41d_8ae7_9cab),
    ("d10_fig05", PAPER, 8, 0x214d_010f_5f2f_180c),
    ("d10_delay", PAPER, 4, 0x0f61_e181_ad20_6444),
    // The order of messages.
    ("d10_msgs", PAPER, 0, 0x407a_5e41_5155_c3b4),
];

/// As [`GOLDEN`], of runs that take minutes where checks are on: an ignored test has them.
pub(crate) const LONG: [(&str, &str, usize, u64); 1] = [("b08_fig10", PAPER, 0, 0xdaf0_2f12_ea70_262f)];

/// As [`GOLDEN`], of runs with alternatives to what is assumed: every choice that is tried, such as TCP with CUBIC, and random loss. Experiment, the
/// last words of what is changed, the number of the cell, and its fingerprint with that and the seed of the first repetition.
pub(crate) const ALTERED: [(&str, &str, usize, u64); 24] = [
    ("b08_fig07", "whole packets", 0, 0xb49f_f7e6_8d26_f271),
    ("b08_fig08", "→ down", 0, 0x8d50_4e2c_c1cb_8e32),
    ("b08_fpf", "→ [\"cuc\", \"sfr\", \"dac\"]", 0, 0x4719_72e6_cc07_bad5),
    ("b08_fpf", "→ rtx-same", 1, 0xc3a9_e7af_71bf_20d2),
    ("b09_fig04", "lowest round trip", 10, 0xaf32_4955_875a_f45f),
    ("b09_fig04", "loss: 0.0 → 0.001", 0, 0xf6b8_cbc9_d488_ba60),
    ("e13_lc", "loss: 0.0 → 0.001", 0, 0xf061_f965_4590_c36c),
    ("c04_fig06", "loss: 0.0 → 0.01", 0, 0x09ab_8955_12b6_5796),
    ("b08_fig12", "fresh alternate: true → false", 0, 0x3124_feeb_e00b_2d39),
    ("e13_lc", "primary-only → split", 2, 0x6184_8d26_6ee5_8394),
    ("e13_lc", "variant: sack → cubic", 0, 0x3812_1a1a_71c7_b700),
    ("e13_lc", "→ measured by a heartbeat", 0, 0xebc9_7596_b64b_a97b),
    ("e13_lc", "→ as the way there", 0, 0x6718_6461_211e_35c2),
    ("c04_fig06", "mesh → per destination", 0, 0x0a23_8295_9219_1a3e),
    ("c04_fig06", "kind \"discs\", share_of_radius 0.975", 0, 0xe1fb_0aed_9222_4fd8),
    ("c04_fig06", "kind \"line\", overshoot 150.0", 0, 0x5023_1596_6b3d_fd39),
    ("c04_fig06", "→ mobile-node", 8, 0x6de3_34da_a1f4_6961),
    ("d10_fig05", "cumulative point → any", 3, 0x044b_8046_27d6_9be2),
    ("d10_fig05", "association → path", 3, 0x1b64_af34_e491_1ae5),
    ("d10_fig04", "kick on set primary: false → true", 1, 0x8c5a_4bd0_6b5a_2cab),
    ("d10_fig04", "primary-only → split", 1, 0x5634_1413_398b_4981),
    ("d10_fig04", "(k - 0.5) / ho_nbr, k = 1..ho_nbr", 1, 0x0d61_ad90_5ccb_0aa4),
    ("d10_fig05", "→ 5 and 5A at once", 3, 0xfc63_9ab9_637b_dfe1),
    ("d10_fig05", "→ 50", 3, 0xdfbd_b716_a592_134a),
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
