//! Addresses that come and go (RFC 5061), against a peer that is driven by hand, and between two nodes.

mod mobile;

mod abuses;
mod announced;
mod answers;
mod attacks;
mod behind_nat;
mod break_before_make;
mod camping;
mod closing;
mod collisions;
mod few_paths;
mod links;
mod long_outages;
mod malformed;
mod many;
mod missing_state;
mod outgoing;
mod requests;
mod retries;
mod serials;
mod strangers;
mod translators;
mod unverified;
mod worlds;
