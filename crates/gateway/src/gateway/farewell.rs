//! A gateway ends in good order.

use std::time::Duration;

use tokio::time::timeout;
use whimbrel_ufa::Command;

use super::Gateway;
use crate::hold::PACKET_MAX;

/// For handovers that are under way, and for the ends of sessions to answer. Whoever stops services waits for longer before it kills them.
const FAREWELL: Duration = Duration::from_secs(2);

impl Gateway {
    /// Ends all sessions, as far as the other ends can be told of it in time.
    pub(super) async fn take_leave(&mut self) {
        let said = self.driver.command(Command::Stop);
        self.carry_out(said).await;
        let mut buffer = vec![0; PACKET_MAX];
        let told = async {
            while !self.driver.machine.has_stopped() {
                match self.next(&mut buffer).await {
                    Ok(Some(said)) => self.carry_out(said).await,
                    Ok(None) => {}
                    Err(_) => return,
                }
            }
        };
        // Who cannot be told notices by silence.
        let _ = timeout(FAREWELL, told).await;
    }
}
