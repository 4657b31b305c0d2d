//! `whimbrel-wire`: an emulated cable between two TAP devices, for network namespaces on one host. See `--help`.
#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "this program lives in real time")]

#[cfg(target_os = "linux")]
fn main() -> anyhow::Result<()> {
    linux::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> anyhow::Result<()> {
    anyhow::bail!("whimbrel-wire needs Linux's TAP devices")
}

#[cfg(target_os = "linux")]
#[path = "wire/linux.rs"]
mod linux;
