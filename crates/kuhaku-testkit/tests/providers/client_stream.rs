//! The streaming half of the client.

use std::collections::VecDeque;

use futures_util::stream::unfold;
use kuhaku_core::{ChatEvent, ChatRequest, ChatStream, Error, ErrorKind, Finish, Result};
use reqwest::Response;
use serde_json::Value;

use crate::client::{Client, Fault, error};

const LONGEST_EVENT: usize = 1 << 16;

struct Reading {
    client: Client,
    response: Response,
    request: ChatRequest,
    unread: Vec<u8>,
    /// How much of it holds no end of an event.
    searched: usize,
    ready: VecDeque<Result<ChatEvent>>,
    /// White space that is text only if more text follows.
    held: String,
    begun: bool,
    over: bool,
}

pub(crate) fn events(client: Client, response: Response, request: ChatRequest) -> ChatStream {
    let reading = Reading {
        client,
        response,
        request,
        unread: Vec::new(),
        searched: 0,
        ready: VecDeque::new(),
        held: String::new(),
        begun: false,
        over: false,
    };
    Box::pin(unfold(reading, |mut reading| async {
        while reading.ready.is_empty() && !reading.over {
            let Err(error) = reading.advance().await else { continue };
            if !reading.asks_again().await {
                reading.ready.push_back(Err(error));
                reading.over = true;
            }
        }
        let event = reading.ready.pop_front()?;
        Some((event, reading))
    }))
}

impl Reading {
    /// The fault of going on with another reply after text of the first.
    async fn asks_again(&mut self) -> bool {
        if !self.client.has(Fault::RetriesEverything) {
            return false;
        }
        self.unread.clear();
        self.searched = 0;
        let response = self.client.send(&self.request, true).await;
        response.map(|response| self.response = response).is_ok()
    }

    async fn advance(&mut self) -> Result<()> {
        let idle = self.client.limit(self.client.endpoint.idle_timeout);
        let limit = idle.min(self.client.left(self.request.deadline));
        let piece = tokio::time::timeout(limit, self.response.chunk()).await;
        let piece = piece.map_err(|_| error(ErrorKind::TimedOut, "the stream fell silent"))?;
        match piece {
            Ok(Some(piece)) if self.client.has(Fault::DecodesPieces) => {
                self.unread.extend_from_slice(String::from_utf8_lossy(&piece).as_bytes());
            }
            Ok(Some(piece)) => self.unread.extend_from_slice(&piece),
            _ if self.client.has(Fault::AcceptsCut) => self.end(&Value::Null)?,
            _ => return Err(cut()),
        }
        let ends = |window: &[u8]| window == b"\n\n";
        while let Some(at) = self.unread[self.searched..].windows(2).position(ends) {
            let event: Vec<u8> = self.unread.drain(..self.searched + at + 2).collect();
            self.searched = 0;
            self.take(&event)?;
        }
        self.searched = self.unread.len().saturating_sub(1);
        if self.unread.len() > LONGEST_EVENT && !self.client.has(Fault::ReadsEverything) {
            return Err(error(ErrorKind::MalformedResponse, "an event is too long"));
        }
        Ok(())
    }

    fn take(&mut self, event: &[u8]) -> Result<()> {
        let malformed = || error(ErrorKind::MalformedResponse, "an event has another shape");
        let value = event.strip_prefix(b"data: ").ok_or_else(malformed)?;
        let value: Value = serde_json::from_slice(value).map_err(|_| malformed())?;
        if !value["error"].is_null() {
            if self.client.has(Fault::SwallowsErrorEvents) {
                return self.end(&value);
            }
            return Err(error(ErrorKind::Unavailable, "it reports a failure"));
        }
        if !value["finish"].is_null() {
            return self.end(&value);
        }
        let text = value["text"].as_str().ok_or_else(malformed)?;
        if text.is_empty() && self.client.has(Fault::StopsAtEmptyPieces) {
            return self.end(&value);
        }
        self.text(text);
        Ok(())
    }

    fn text(&mut self, piece: &str) {
        self.held.push_str(piece);
        let mut text = self.held.as_str();
        if !self.client.has(Fault::TrimsWholeRepliesOnly) {
            text = text.trim_end();
        }
        let rest = self.held[text.len()..].to_owned();
        if !self.begun && !self.client.has(Fault::TrimsWholeRepliesOnly) {
            text = text.trim_start();
        }
        if !text.is_empty() {
            self.begun = true;
            self.ready.push_back(Ok(ChatEvent::Text(text.into())));
        }
        self.held = rest;
    }

    fn end(&mut self, value: &Value) -> Result<()> {
        self.over = true;
        let finish = self.client.finish(value);
        if !self.begun && finish == Finish::Stop && !self.client.has(Fault::EmptyIsFine) {
            return Err(error(ErrorKind::EmptyResponse, "there is no text"));
        }
        let model = value["model"].as_str().unwrap_or_default().to_owned();
        let end = ChatEvent::End { finish, usage: self.client.usage(value), model };
        self.ready.push_back(Ok(end.clone()));
        if self.client.has(Fault::EndsTwice) {
            self.ready.push_back(Ok(end));
        }
        Ok(())
    }
}

fn cut() -> Error {
    error(ErrorKind::Unavailable, "the stream ended early")
}
