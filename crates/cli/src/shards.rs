//! On how many processors a command runs.

use clap::Args;
use whimbrel::SHARDS_MAX;

/// Threads of a command that serves nobody.
const THREADS: usize = 2;

/// What a command that serves many peers understands about processors.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Speed")]
pub(crate) struct ShardsArgs {
    /// Processors to run on, for many peers at once; 0 for all that there are. What one peer sends is handled by one.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=i64::from(SHARDS_MAX)))]
    pub(crate) shards: u32,
}

impl ShardsArgs {
    /// Threads for the command's runtime.
    pub(crate) fn threads(self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, core::num::NonZero::get);
        let wanted = if self.shards == 0 { all() } else { self.shards as usize };
        wanted.max(THREADS)
    }
}

/// Threads for a command: none but servers need many.
pub(crate) fn threads(args: Option<ShardsArgs>) -> usize {
    args.map_or(THREADS, ShardsArgs::threads)
}
