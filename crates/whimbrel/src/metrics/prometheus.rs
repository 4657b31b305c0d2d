//! The text that Prometheus and its kin read (exposition format 0.0.4).

use whimbrel_proto::AssociationState;

use super::{Metrics, PrometheusText};

impl Metrics {
    /// All of it as the text that Prometheus reads, to be served with the content type `text/plain; version=0.0.4`.
    pub fn prometheus(&self) -> String {
        let mut text = PrometheusText::default();
        self.packets(&mut text);
        self.data(&mut text);
        self.lives(&mut text);
        self.moves(&mut text);
        text.into_string()
    }

    fn packets(&self, text: &mut PrometheusText) {
        let dropped = self.endpoint.packets_dropped;
        let (malformed, checksum) = (self.endpoint.malformed, self.endpoint.wrong_checksum);
        text.counter("packets_sent_total", "Packets given to the sockets.", self.packets_sent);
        text.counter("packets_received_total", "Packets that came from the sockets.", self.packets_received);
        text.counter("bytes_sent_total", "Bytes of packets sent, from the SCTP header on.", self.bytes_sent);
        text.counter(
            "bytes_received_total",
            "Bytes of packets received, from the SCTP header on.",
            self.bytes_received,
        );
        let reasons = [
            ("malformed", malformed),
            ("checksum", checksum),
            ("stranger", self.totals.stats.packets_dropped),
            ("shard", self.hand_overs.dropped),
            ("other", dropped.saturating_sub(malformed + checksum)),
        ];
        text.labelled(
            ("packets_dropped_total", "counter"),
            "Packets dropped: malformed, of a wrong checksum, from an address that is not the peer's, for a shard that was too far behind, else.",
            "reason",
            reasons,
        );
        text.counter(
            "packets_out_of_the_blue_total",
            "Packets that belonged to no association.",
            self.endpoint.out_of_the_blue,
        );
        text.counter("inits_answered_total", "INIT chunks answered.", self.endpoint.inits_answered);
        text.counter("cookies_refused_total", "Cookies that were not ours.", self.endpoint.cookies_refused);
    }

    fn data(&self, text: &mut PrometheusText) {
        let stats = &self.totals.stats;
        text.counter("messages_sent_total", "Messages taken from the program.", stats.messages_sent);
        text.counter("message_bytes_sent_total", "Bytes of messages taken.", stats.bytes_sent);
        text.counter("messages_received_total", "Messages given to the program.", stats.messages_received);
        text.counter("message_bytes_received_total", "Bytes of messages given.", stats.bytes_received);
        text.counter("data_chunks_sent_total", "DATA chunks sent for the first time.", stats.data_sent);
        text.counter("data_chunks_retransmitted_total", "DATA chunks sent again.", stats.data_retransmitted);
        text.counter("data_chunks_duplicate_total", "DATA chunks received twice.", stats.duplicates_received);
        text.counter("timeouts_total", "Expirations of T3-rtx.", stats.timeouts);
        text.counter("tail_probes_total", "Tail-loss probes.", stats.tail_probes);
        text.counter("fast_retransmits_total", "Fast retransmissions begun.", stats.fast_retransmits);
        text.counter("reductions_undone_total", "Windows given back, as nothing was lost.", stats.undone);
        text.gauge("send_queue_bytes", "Bytes taken and not acknowledged.", stats.send_queued);
        text.gauge("receive_queue_bytes", "Bytes received and not taken.", stats.receive_queued);
        text.histogram("round_trip_seconds", "Round trips, as the RTO is made of.", &self.totals.round_trips);
    }

    fn lives(&self, text: &mut PrometheusText) {
        let states = self.associations().map(|(state, count)| (name(state), count));
        text.labelled(("associations", "gauge"), "Associations now, by state.", "state", states);
        text.counter("associations_established_total", "Associations that came up.", self.established);
        text.counter("connects_failed_total", "Attempts to connect that failed.", self.connects_failed);
        let ended = [
            ("shutdown", self.ended.shutdown),
            ("aborted", self.ended.aborted),
            ("aborted_by_peer", self.ended.aborted_by_peer),
            ("unreachable", self.ended.unreachable),
        ];
        text.labelled(
            ("associations_ended_total", "counter"),
            "Associations that ended, by how.",
            "reason",
            ended,
        );
    }

    fn moves(&self, text: &mut PrometheusText) {
        text.counter("handovers_total", "Times that new data took another path.", self.handovers);
        text.histogram(
            "handover_gap_seconds",
            "How long nothing was acknowledged around a handover with data on its way.",
            &self.handover_gaps,
        );
    }
}

/// A state as a label's value.
const fn name(state: AssociationState) -> &'static str {
    match state {
        AssociationState::Closed => "closed",
        AssociationState::CookieWait => "cookie_wait",
        AssociationState::CookieEchoed => "cookie_echoed",
        AssociationState::Established => "established",
        AssociationState::ShutdownPending => "shutdown_pending",
        AssociationState::ShutdownSent => "shutdown_sent",
        AssociationState::ShutdownReceived => "shutdown_received",
        AssociationState::ShutdownAckSent => "shutdown_ack_sent",
    }
}

#[cfg(test)]
#[path = "prometheus_tests.rs"]
mod tests;
