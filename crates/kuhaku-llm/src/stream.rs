//! A streamed reply, from bytes to events.

use std::collections::VecDeque;

use futures_util::stream::{iter, unfold};
use kuhaku_core::{
    ChatEvent, ChatResponse, ChatStream, Error, Finish, HttpStream, LineDecoder, Result, SseDecoder,
};

use crate::connection::MOST;
use crate::dialect::{Closing, Draft, Framing, Reader};
use crate::fault::Fault;
use crate::provider::{Call, HttpProvider, given};
use crate::trim::Trimmer;

/// The longest event, in bytes.
const LONGEST_EVENT: usize = 4 << 20;

/// A whole reply as the events of a stream.
pub(crate) fn of_response(response: ChatResponse) -> ChatStream {
    let ChatResponse { text, finish, usage, model, .. } = response;
    let end = ChatEvent::End { finish, usage, model };
    Box::pin(iter([Ok(ChatEvent::Text(text)), Ok(end)]))
}

enum Events {
    Sse(Box<SseDecoder>),
    Lines(LineDecoder),
}

/// A reply that is being read.
pub(crate) struct Reading {
    provider: HttpProvider,
    call: Call,
    stream: HttpStream,
    reader: Box<dyn Reader>,
    events: Events,
    draft: Draft,
    trimmer: Trimmer,
    /// The text so far, where none may be given before it is whole.
    whole: String,
    ready: VecDeque<Result<ChatEvent>>,
    over: bool,
}

impl Reading {
    pub(crate) fn new(
        provider: HttpProvider,
        call: Call,
        stream: HttpStream,
        reader: Box<dyn Reader>,
    ) -> Self {
        let events = match provider.dialect.framing() {
            Framing::Events => Events::Sse(Box::new(SseDecoder::new(LONGEST_EVENT))),
            Framing::Lines => Events::Lines(LineDecoder::new(LONGEST_EVENT)),
        };
        Self {
            provider,
            call,
            stream,
            reader,
            events,
            draft: Draft::default(),
            trimmer: Trimmer::default(),
            whole: String::new(),
            ready: VecDeque::new(),
            over: false,
        }
    }

    pub(crate) fn into_stream(self) -> ChatStream {
        Box::pin(unfold(self, |mut reading| async {
            while reading.ready.is_empty() && !reading.over {
                if let Err(error) = reading.advance().await {
                    let error = reading.broken(error);
                    reading.ready.push_back(Err(error));
                    reading.over = true;
                }
            }
            let event = reading.ready.pop_front()?;
            Some((event, reading))
        }))
    }

    /// The error with which the stream ends; it says so when text was given before it.
    fn broken(&self, error: Error) -> Error {
        let error = error.with_usage(self.draft.usage);
        if self.call.form.is_json() || !self.trimmer.has_begun() {
            return error;
        }
        let step = error.next_step().unwrap_or("ask again").to_owned();
        error.next(format!("{step}; the text so far is only a part of the reply"))
    }

    /// Reads the next bytes, and the events that they complete.
    async fn advance(&mut self) -> Result<()> {
        let bytes = match self.stream.next_bytes().await {
            Ok(bytes) => bytes,
            // Nothing of the reply is missing but what may come after its end.
            Err(_) if self.draft.closing == Closing::Possible => return self.end(),
            Err(error) => return Err(error),
        };
        let Some(bytes) = bytes else {
            self.take_rest()?;
            return match self.draft.closing {
                _ if self.over => Ok(()),
                Closing::Open => Err(self.provider.error(Fault::cut(), &self.call)),
                _ => self.end(),
            };
        };
        match &mut self.events {
            Events::Sse(events) => events.feed(&bytes),
            Events::Lines(lines) => lines.feed(&bytes),
        }
        while !self.over && self.take_next()? {}
        Ok(())
    }

    /// Takes the next complete event; gives whether there was one.
    fn take_next(&mut self) -> Result<bool> {
        let read = match &mut self.events {
            Events::Sse(events) => {
                let Some(event) = events.next_event()? else { return Ok(false) };
                self.reader.event(&event.name, &event.data, &mut self.draft)
            }
            Events::Lines(lines) => {
                let Some(line) = lines.next_line()? else { return Ok(false) };
                read_line(&mut *self.reader, line, &mut self.draft)
            }
        };
        self.pass_on(read)?;
        Ok(true)
    }

    /// Takes what stands after the last end of an event, since services leave that out.
    fn take_rest(&mut self) -> Result<()> {
        let rest = match std::mem::replace(&mut self.events, Events::Lines(LineDecoder::new(0))) {
            Events::Sse(events) => events
                .finish()
                .map(|event| self.reader.event(&event.name, &event.data, &mut self.draft)),
            Events::Lines(lines) => {
                Some(read_line(&mut *self.reader, lines.rest(), &mut self.draft))
            }
        };
        match rest {
            // An event that was cut is no JSON: the cut is what is wrong.
            Some(Err(fault)) if fault.is_malformed() => Ok(()),
            Some(read) => self.pass_on(read),
            None => Ok(()),
        }
    }

    /// Passes on what an event brought.
    fn pass_on(&mut self, read: Result<(), Fault>) -> Result<()> {
        read.map_err(|fault| self.provider.error(fault, &self.call))?;
        let piece = std::mem::take(&mut self.draft.text);
        if let Some(text) = self.trimmer.push(&piece) {
            if self.call.form.is_json() {
                self.whole.push_str(&text);
            } else {
                self.ready.push_back(Ok(ChatEvent::Text(text)));
            }
        }
        if self.whole.len() > MOST {
            let fault = Fault::malformed("the reply is too long to be JSON that was asked for");
            return Err(self.provider.error(fault, &self.call));
        }
        if self.draft.closing == Closing::Reached { self.end() } else { Ok(()) }
    }

    /// The reply is complete.
    fn end(&mut self) -> Result<()> {
        self.over = true;
        let finish = self.draft.finish.unwrap_or(Finish::Stop);
        let text = std::mem::take(&mut self.whole);
        if self.call.form.is_json() || !self.trimmer.has_begun() {
            let text = given(text, finish).and_then(|text| self.call.form.settle(text, finish));
            let text = text.map_err(|fault| self.provider.error(fault, &self.call))?;
            self.ready.push_back(Ok(ChatEvent::Text(text)));
        }
        let model = self.draft.model.take().unwrap_or_else(|| self.provider.model().to_owned());
        let end = ChatEvent::End { finish, usage: self.draft.usage, model };
        self.ready.push_back(Ok(end));
        Ok(())
    }
}

fn read_line(reader: &mut dyn Reader, line: &[u8], draft: &mut Draft) -> Result<(), Fault> {
    if line.trim_ascii().is_empty() {
        return Ok(());
    }
    reader.event("", &String::from_utf8_lossy(line), draft)
}
