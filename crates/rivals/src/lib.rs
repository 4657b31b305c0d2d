//! What handover papers compare SCTP with, as sans-IO machines: TCP, and TCP over Mobile IP.
//!
//! They are models for experiments in virtual time, not protocol stacks for real networks; each module says what it leaves
//! out.
#![forbid(unsafe_code)]

pub mod mobile_ip;
pub mod tcp;
