//! One connection: requests in, scripted bytes out, and an eye on the client.

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::reply::{Action, Ending, Reply};
use super::request::read;
use super::server::Record;

/// Answers requests until one side ends the connection.
pub(super) async fn serve(mut stream: TcpStream, record: Arc<Record>) {
    let mut unread = Vec::new();
    // A request that cannot be read is not answered: the client meets a closed connection.
    while let Ok(Some(request)) = read(&mut stream, &mut unread).await {
        let Some(reply) = record.answer(request) else { return };
        let (mut reader, mut writer) = stream.split();
        let played = tokio::select! {
            played = play(&mut writer, &reply, &record) => played,
            () = left(&mut reader, &mut unread) => false,
        };
        match reply.ends() {
            _ if !played => return record.abandoned(),
            Ending::Complete => {}
            Ending::Close | Ending::Silence => return,
            Ending::Reset => {
                // The linger time of zero is what turns the close into a reset.
                let _ = stream.set_zero_linger();
                return;
            }
        }
    }
}

/// Sends a reply; false when the client did not take it.
async fn play(writer: &mut (impl AsyncWriteExt + Unpin), reply: &Reply, record: &Record) -> bool {
    for action in reply.actions() {
        let (bytes, times) = match action {
            Action::Pause(pause) => {
                if !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                }
                continue;
            }
            Action::Send(bytes) => (bytes, 1),
            Action::Repeat(bytes, times) => (bytes, times),
        };
        for _ in 0..times {
            if writer.write_all(&bytes).await.is_err() {
                return false;
            }
            record.sent(bytes.len());
        }
    }
    if reply.ends() == Ending::Silence {
        std::future::pending::<()>().await;
    }
    true
}

/// Returns when the client has gone.
async fn left(reader: &mut (impl AsyncRead + Unpin), unread: &mut Vec<u8>) {
    while matches!(reader.read_buf(unread).await, Ok(read) if read > 0) {}
}
