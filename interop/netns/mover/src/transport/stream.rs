//! Records over a byte stream.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::Transport;
use crate::pace::{Pace, Schedule};
use crate::record::{self, GO_DOWN, GO_UP, HEAD};
use crate::report::Report;

type Reader<'a> = &'a mut (dyn AsyncRead + Unpin);
type Writer<'a> = &'a mut (dyn AsyncWrite + Unpin);

/// The server's side of a connection: the first record says who sends.
pub(crate) async fn serve(
    transport: Transport,
    reader: Reader<'_>,
    writer: Writer<'_>,
) -> anyhow::Result<()> {
    let Some((order, pace)) = read(reader).await? else { return Ok(()) };
    if order == GO_UP { receive(transport, reader, writer).await } else { send(reader, writer, pace).await }
}

/// The mover's side.
pub(crate) async fn connect(
    transport: Transport,
    reader: Reader<'_>,
    writer: Writer<'_>,
    up: bool,
    pace: Pace,
) -> anyhow::Result<()> {
    writer.write_all(&record::encode(if up { GO_UP } else { GO_DOWN }, pace)).await?;
    writer.flush().await?;
    if up { send(reader, writer, pace).await } else { receive(transport, reader, writer).await }
}

/// Sends all, then waits for one byte that says that all has come.
async fn send(reader: Reader<'_>, writer: Writer<'_>, pace: Pace) -> anyhow::Result<()> {
    let mut schedule = Schedule::new(pace);
    while let Some(number) = schedule.next().await {
        writer.write_all(&record::encode(number, pace)).await?;
        writer.flush().await?;
    }
    writer.write_all(&record::encode(GO_UP, pace)).await?;
    writer.flush().await?;
    reader.read_u8().await?;
    Ok(())
}

async fn receive(transport: Transport, reader: Reader<'_>, writer: Writer<'_>) -> anyhow::Result<()> {
    let mut report = Report::new();
    let result = receive_all(reader, &mut report).await;
    report.print(transport.name(), result.as_ref().err());
    writer.write_u8(1).await?;
    writer.flush().await?;
    // The other side closes first: the byte must not be lost with the connection.
    let _ = reader.read_u8().await;
    result
}

async fn receive_all(reader: Reader<'_>, report: &mut Report) -> anyhow::Result<()> {
    while let Some((number, pace)) = read(reader).await? {
        if number == GO_UP {
            return Ok(());
        }
        report.arrived(number, pace.size as usize)?;
    }
    anyhow::bail!("the stream ended early")
}

/// The next record; `None` at the end of the stream.
async fn read(reader: Reader<'_>) -> anyhow::Result<Option<(u64, Pace)>> {
    let mut head = [0; HEAD];
    match reader.read_exact(&mut head).await {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    };
    let mut bytes = vec![0; record::size(&head).clamp(HEAD, 1 << 16)];
    bytes[..HEAD].copy_from_slice(&head);
    reader.read_exact(&mut bytes[HEAD..]).await?;
    record::decode(&bytes).map(Some)
}
