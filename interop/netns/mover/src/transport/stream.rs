//! Records over a byte stream.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::{Terms, Transport};
use crate::Direction;
use crate::pace::{Pace, Schedule};
use crate::record::{self, END, HEAD};
use crate::report::Report;

type Reader<'a> = &'a mut (dyn AsyncRead + Unpin);
type Writer<'a> = &'a mut (dyn AsyncWrite + Unpin);

/// The server's side of a connection: the first record says who sends.
pub(crate) async fn serve(
    transport: Transport,
    reader: Reader<'_>,
    writer: Writer<'_>,
    terms: Terms,
) -> anyhow::Result<()> {
    let Some((order, pace)) = read(reader).await? else { return Ok(()) };
    match record::direction(order)? {
        Direction::Up => receive(transport, reader, writer, terms).await,
        Direction::Down => send(reader, writer, pace).await,
        Direction::Both => exchange(transport, reader, writer, pace, terms).await,
    }
}

/// The mover's side.
pub(crate) async fn connect(
    transport: Transport,
    reader: Reader<'_>,
    writer: Writer<'_>,
    direction: Direction,
    pace: Pace,
    terms: Terms,
) -> anyhow::Result<()> {
    writer.write_all(&record::encode(record::order(direction), pace)).await?;
    writer.flush().await?;
    match direction {
        Direction::Up => send(reader, writer, pace).await,
        Direction::Down => receive(transport, reader, writer, terms).await,
        Direction::Both => exchange(transport, reader, writer, pace, terms).await,
    }
}

/// Sends all, then waits for one byte that says that all has come.
async fn send(reader: Reader<'_>, writer: Writer<'_>, pace: Pace) -> anyhow::Result<()> {
    send_all(writer, pace).await?;
    reader.read_u8().await?;
    Ok(())
}

async fn send_all(writer: Writer<'_>, pace: Pace) -> anyhow::Result<()> {
    let mut schedule = Schedule::new(pace);
    while let Some(number) = schedule.next().await {
        writer.write_all(&record::encode(number, pace)).await?;
        writer.flush().await?;
    }
    writer.write_all(&record::encode(END, pace)).await?;
    writer.flush().await?;
    Ok(())
}

async fn receive(
    transport: Transport,
    reader: Reader<'_>,
    writer: Writer<'_>,
    terms: Terms,
) -> anyhow::Result<()> {
    let mut report = Report::new(terms.patience);
    let result = receive_all(reader, &mut report).await;
    report.print(transport.name(), result.as_ref().err());
    result?;
    confirm(reader, writer).await
}

/// Sends and receives at the same time.
async fn exchange(
    transport: Transport,
    reader: Reader<'_>,
    writer: Writer<'_>,
    pace: Pace,
    terms: Terms,
) -> anyhow::Result<()> {
    let mut report = Report::new(terms.patience);
    let result = tokio::try_join!(send_all(writer, pace), receive_all(reader, &mut report));
    report.print(transport.name(), result.as_ref().err());
    result?;
    confirm(reader, writer).await
}

/// Says that all has come.
async fn confirm(reader: Reader<'_>, writer: Writer<'_>) -> anyhow::Result<()> {
    writer.write_u8(1).await?;
    writer.flush().await?;
    // The other side closes first, or says the same: the byte must not be lost with the connection.
    let _ = reader.read_u8().await;
    Ok(())
}

async fn receive_all(reader: Reader<'_>, report: &mut Report) -> anyhow::Result<()> {
    while let Some((number, pace)) = report.expect(read(reader)).await? {
        if number == END {
            return Ok(());
        }
        report.arrived(number, pace)?;
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
