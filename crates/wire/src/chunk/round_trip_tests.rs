//! What is sent reads back as it was, for every chunk and arbitrary contents.

use core::net::IpAddr;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::list::List;
use crate::parameter::{
    AddStreamsRequest, AddressRequest, IncomingSsnResetRequest, OutgoingSsnResetRequest, Parameter,
    ReConfigResponse,
};
use crate::serial::{MessageId, PayloadProtocolId, Ssn, StreamId, Tsn};
use crate::testing::round_trip;
use crate::{Cause, Causes};

/// Values a parameter or cause is made of; which one is used depends on the kind.
#[derive(Clone, Debug)]
struct Seed {
    kind: u8,
    number: u32,
    other: u32,
    bytes: Vec<u8>,
    shorts: Vec<u16>,
    streams: Vec<StreamId>,
    address: IpAddr,
}

fn seed() -> impl Strategy<Value = Seed> {
    let lists = (vec(any::<u8>(), 0..40), vec(any::<u16>(), 0..9));
    (any::<u8>(), any::<u32>(), any::<u32>(), lists, any::<IpAddr>()).prop_map(
        |(kind, number, other, (bytes, shorts), address)| {
            let streams = shorts.iter().copied().map(StreamId).collect();
            Seed { kind, number, other, bytes, shorts, streams, address }
        },
    )
}

impl Seed {
    fn parameter(&self) -> Parameter<'_> {
        let Self { kind, number, other, bytes, shorts, streams, address } = self;
        let [high, low] = [(number >> 16) as u16, *number as u16];
        let request = AddressRequest { correlation_id: *number, address: *address };
        let add = AddStreamsRequest { request_sequence_number: *other, new_streams: high };
        match kind % 26 {
            0 => Parameter::HeartbeatInfo(bytes),
            1 => Parameter::from(*address),
            2 => Parameter::StateCookie(bytes),
            3 => Parameter::UnrecognizedParameter(bytes),
            4 => Parameter::CookiePreservative(*number),
            5 => Parameter::HostName(bytes),
            6 => Parameter::SupportedAddressTypes(List::from(&shorts[..])),
            7 => Parameter::EcnCapable,
            8 => Parameter::ForwardTsnSupported,
            9 => Parameter::SupportedExtensions(bytes),
            10 => Parameter::Random(bytes),
            11 => Parameter::Chunks(bytes),
            12 => Parameter::HmacAlgorithms(List::from(&shorts[..])),
            13 => Parameter::AddIpAddress(request),
            14 => Parameter::DeleteIpAddress(request),
            15 => Parameter::SetPrimaryAddress(request),
            16 => Parameter::SuccessIndication(*number),
            17 => Parameter::AdaptationLayerIndication(*number),
            18 => Parameter::OutgoingSsnResetRequest(OutgoingSsnResetRequest {
                request_sequence_number: *number,
                response_sequence_number: *other,
                last_assigned_tsn: Tsn(number ^ other),
                streams: List::from(&streams[..]),
            }),
            19 => Parameter::IncomingSsnResetRequest(IncomingSsnResetRequest {
                request_sequence_number: *number,
                streams: List::from(&streams[..]),
            }),
            20 => Parameter::SsnTsnResetRequest(*number),
            21 => Parameter::ReConfigResponse(ReConfigResponse {
                response_sequence_number: *number,
                result: *other,
                next_tsns: (low % 2 == 0).then_some((Tsn(*other), Tsn(*number))),
            }),
            22 => Parameter::AddOutgoingStreamsRequest(add),
            23 => Parameter::AddIncomingStreamsRequest(add),
            24 => Parameter::ZeroChecksumAcceptable(*number),
            _ => Parameter::Padding(bytes),
        }
    }

    fn cause(&self) -> Cause<'_> {
        let Self { kind, number, bytes, shorts, .. } = self;
        match kind % 20 {
            0 => Cause::InvalidStreamIdentifier(StreamId(*number as u16)),
            1 => Cause::MissingMandatoryParameter(List::from(&shorts[..])),
            2 => Cause::StaleCookie { microseconds: *number },
            3 => Cause::OutOfResource,
            4 => Cause::UnresolvableAddress(bytes),
            5 => Cause::UnrecognizedChunkType(bytes),
            6 => Cause::InvalidMandatoryParameter,
            7 => Cause::UnrecognizedParameters(bytes),
            8 => Cause::NoUserData { tsn: Tsn(*number) },
            9 => Cause::CookieReceivedWhileShuttingDown,
            10 => Cause::RestartWithNewAddresses(bytes),
            11 => Cause::UserInitiatedAbort(bytes),
            12 => Cause::ProtocolViolation(bytes),
            13 => Cause::DeleteLastAddress(bytes),
            14 => Cause::ResourceShortage(bytes),
            15 => Cause::DeleteSourceAddress(bytes),
            16 => Cause::IllegalAsconfAck,
            17 => Cause::NoAuthorization(bytes),
            18 => Cause::UnsupportedHmacIdentifier { hmac_id: *number as u16 },
            _ => Cause::Unknown { code: 0xbe00 | (*number as u16 & 0xff), bytes },
        }
    }
}

fn read_all<'a>(parameters: crate::Parameters<'a>) -> Vec<Parameter<'a>> {
    parameters.map(|parameter| parameter.expect("well-formed")).collect()
}

fn read_causes<'a>(causes: Causes<'a>) -> Vec<Cause<'a>> {
    causes.map(|cause| cause.expect("well-formed")).collect()
}

proptest! {
    #[test]
    fn data(flags: [bool; 4], tsn: u32, stream: u16, ssn: u16, ppid: u32, payload in vec(any::<u8>(), 0..1500)) {
        let [immediate, unordered, beginning, ending] = flags;
        let (stream, ssn, ppid) = (StreamId(stream), Ssn(ssn), PayloadProtocolId(ppid));
        let payload = &payload[..];
        let data = Data { immediate, unordered, beginning, ending, tsn: Tsn(tsn), stream, ssn, ppid, payload };
        round_trip(&data, |read| assert_eq!(read, Chunk::Data(data)));
    }

    #[test]
    fn i_data(flags: [bool; 4], tsn: u32, stream: u16, mid: u32, shared: u32, payload in vec(any::<u8>(), 0..1500)) {
        let [immediate, unordered, first, ending] = flags;
        let (stream, message_id) = (StreamId(stream), MessageId(mid));
        let later = FragmentPosition::Later(shared);
        let position = if first { FragmentPosition::First(PayloadProtocolId(shared)) } else { later };
        let payload = &payload[..];
        let data = IData { immediate, unordered, ending, tsn: Tsn(tsn), stream, message_id, position, payload };
        round_trip(&data, |read| assert_eq!(read, Chunk::IData(data)));
    }

    #[test]
    fn init_and_init_ack(tag: u32, a_rwnd: u32, streams: [u16; 2], tsn: u32, seeds in vec(seed(), 0..9)) {
        let parameters: Vec<_> = seeds.iter().map(Seed::parameter).collect();
        let parameters = &parameters[..];
        let ([outbound_streams, inbound_streams], initial_tsn) = (streams, Tsn(tsn));
        let init =
            InitBuilder { initiate_tag: tag, a_rwnd, outbound_streams, inbound_streams, initial_tsn, parameters };
        let fixed = (tag, a_rwnd, streams, initial_tsn);
        round_trip(&init, |read| {
            let Chunk::Init(read) = read else { panic!("an INIT") };
            let streams = [read.outbound_streams, read.inbound_streams];
            assert_eq!((read.initiate_tag, read.a_rwnd, streams, read.initial_tsn), fixed);
            assert_eq!(read_all(read.parameters), parameters);
        });
        let ack =
            InitAckBuilder { initiate_tag: tag, a_rwnd, outbound_streams, inbound_streams, initial_tsn, parameters };
        round_trip(&ack, |read| {
            let Chunk::InitAck(read) = read else { panic!("an INIT ACK") };
            let streams = [read.outbound_streams, read.inbound_streams];
            assert_eq!((read.initiate_tag, read.a_rwnd, streams, read.initial_tsn), fixed);
            assert_eq!(read_all(read.parameters), parameters);
        });
    }

    #[test]
    fn sack(tsn: u32, a_rwnd: u32, blocks in vec(any::<(u16, u16)>(), 0..99), duplicates in vec(any::<u32>(), 0..99)) {
        let blocks: Vec<_> = blocks.into_iter().map(|(start, end)| GapAckBlock { start, end }).collect();
        let duplicates: Vec<_> = duplicates.into_iter().map(Tsn).collect();
        let (gap_ack_blocks, duplicate_tsns) = (&blocks[..], &duplicates[..]);
        let sack = SackBuilder { cumulative_tsn_ack: Tsn(tsn), a_rwnd, gap_ack_blocks, duplicate_tsns };
        round_trip(&sack, |read| {
            let Chunk::Sack(read) = read else { panic!("a SACK") };
            assert_eq!((read.cumulative_tsn_ack, read.a_rwnd), (Tsn(tsn), a_rwnd));
            assert!(read.gap_ack_blocks().eq(blocks.iter().copied()));
            assert!(read.duplicate_tsns().eq(duplicates.iter().copied()));
        });
    }

    #[test]
    fn opaque_chunks(bytes in vec(any::<u8>(), 0..600), ids: [u16; 2]) {
        let bytes = &bytes[..];
        let chunks = [
            Chunk::Heartbeat(Heartbeat { info: bytes }),
            Chunk::HeartbeatAck(HeartbeatAck { info: bytes }),
            Chunk::CookieEcho(CookieEcho { cookie: bytes }),
            Chunk::Pad(Pad { padding: bytes }),
            Chunk::Auth(Auth { shared_key_id: ids[0], hmac_id: ids[1], hmac: bytes }),
        ];
        for chunk in chunks {
            round_trip(&chunk, |read| assert_eq!(read, chunk));
        }
    }

    #[test]
    fn fixed_chunks(tsn: u32, tag_reflected: bool) {
        let tsn = Tsn(tsn);
        let chunks = [
            Chunk::Shutdown(Shutdown { cumulative_tsn_ack: tsn }),
            Chunk::Ecne(Ecne { lowest_tsn: tsn }),
            Chunk::Cwr(Cwr { lowest_tsn: tsn }),
            Chunk::ShutdownComplete(ShutdownComplete { tag_reflected }),
            Chunk::ShutdownAck,
            Chunk::CookieAck,
        ];
        for chunk in chunks {
            round_trip(&chunk, |read| assert_eq!(read, chunk));
        }
    }

    #[test]
    fn abort_and_error(tag_reflected: bool, seeds in vec(seed(), 0..9)) {
        let causes: Vec<_> = seeds.iter().map(Seed::cause).collect();
        let causes = &causes[..];
        round_trip(&AbortBuilder { tag_reflected, causes }, |read| {
            let Chunk::Abort(read) = read else { panic!("an ABORT") };
            assert_eq!(read.tag_reflected, tag_reflected);
            assert_eq!(read_causes(read.causes), causes);
        });
        round_trip(&ErrorBuilder { causes }, |read| {
            let Chunk::Error(read) = read else { panic!("an ERROR") };
            assert_eq!(read_causes(read.causes), causes);
        });
    }

    #[test]
    fn parameter_chunks(sequence_number: u32, address: IpAddr, seeds in vec(seed(), 0..9)) {
        let parameters: Vec<_> = seeds.iter().map(Seed::parameter).collect();
        let parameters = &parameters[..];
        round_trip(&AsconfBuilder { sequence_number, address, parameters }, |read| {
            let Chunk::Asconf(read) = read else { panic!("an ASCONF") };
            assert_eq!((read.sequence_number, read.address), (sequence_number, address));
            assert_eq!(read_all(read.parameters), parameters);
        });
        round_trip(&AsconfAckBuilder { sequence_number, parameters }, |read| {
            let Chunk::AsconfAck(read) = read else { panic!("an ASCONF-ACK") };
            assert_eq!(read.sequence_number, sequence_number);
            assert_eq!(read_all(read.parameters), parameters);
        });
        round_trip(&ReConfigBuilder { parameters }, |read| {
            let Chunk::ReConfig(read) = read else { panic!("a RE-CONFIG") };
            assert_eq!(read_all(read.parameters), parameters);
        });
    }

    #[test]
    fn forward_tsns(tsn: u32, entries in vec(any::<(u16, u32, bool)>(), 0..99)) {
        let new_cumulative_tsn = Tsn(tsn);
        let stream = |&(stream, number, _): &(u16, u32, bool)| {
            SkippedStream { stream: StreamId(stream), ssn: Ssn(number as u16) }
        };
        let streams: Vec<_> = entries.iter().map(stream).collect();
        let chunk = Chunk::ForwardTsn(ForwardTsn { new_cumulative_tsn, skipped: List::from(&streams[..]) });
        round_trip(&chunk, |read| assert_eq!(read, chunk));
        let message = |&(stream, number, unordered): &(u16, u32, bool)| {
            SkippedMessage { stream: StreamId(stream), unordered, message_id: MessageId(number) }
        };
        let messages: Vec<_> = entries.iter().map(message).collect();
        let chunk = Chunk::IForwardTsn(IForwardTsn { new_cumulative_tsn, skipped: List::from(&messages[..]) });
        round_trip(&chunk, |read| assert_eq!(read, chunk));
    }

    /// A type no RFC implemented here has taken: 63, 127, 191 and 255 are reserved for extensions.
    #[test]
    fn unknown(high in 0u8..4, flags: u8, value in vec(any::<u8>(), 0..99)) {
        let chunk_type = high << 6 | 0x3f;
        let mut raw = crate::emit::chunk_header(chunk_type, flags, 4 + value.len()).to_vec();
        raw.extend_from_slice(&value);
        let chunk = Chunk::Unknown(Unknown { chunk_type, flags, raw: &raw });
        round_trip(&chunk, |read| assert_eq!(read, chunk));
    }
}
