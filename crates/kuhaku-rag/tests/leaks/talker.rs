//! A model that says what a test wants, in pieces of one to seven bytes.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll};

use async_trait::async_trait;
use futures_core::Stream;
use kuhaku_core::{
    Capabilities, ChatEvent, ChatRequest, ChatResponse, ChatStream, Finish, LlmProvider, Result,
    Usage,
};

/// Random numbers that repeat for a seed: splitmix64 (Steele, Lea and Flood 2014, figure 16).
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound).unwrap()).unwrap()
    }

    pub(crate) fn digits(&mut self, count: usize) -> String {
        let digit = |at: usize, n: usize| if at == 0 { 1 + n % 9 } else { n % 10 };
        (0..count).map(|at| char::from(b'0' + digit(at, self.below(90)) as u8)).collect()
    }
}

type Script = Box<dyn Fn(&ChatRequest) -> String + Send>;

pub(crate) struct Talker {
    script: Mutex<Script>,
    draw: Mutex<Draw>,
}

impl fmt::Debug for Talker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Talker")
    }
}

impl Talker {
    pub(crate) fn new(seed: u64) -> Self {
        Self { script: Mutex::new(Box::new(|_| String::new())), draw: Mutex::new(Draw::new(seed)) }
    }

    pub(crate) fn says(&self, script: impl Fn(&ChatRequest) -> String + Send + 'static) {
        *self.script.lock().unwrap() = Box::new(script);
    }
}

#[async_trait]
impl LlmProvider for Talker {
    fn id(&self) -> &str {
        "talker:model"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    async fn chat(&self, request: ChatRequest) -> Result<ChatResponse> {
        Ok(ChatResponse::new("m", (self.script.lock().unwrap())(&request)))
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream> {
        let text = (self.script.lock().unwrap())(&request);
        let mut draw = self.draw.lock().unwrap();
        let (mut rest, mut pieces) = (text.as_str(), VecDeque::new());
        while !rest.is_empty() {
            let length = 1 + draw.below(7);
            let end = (length..=rest.len()).find(|at| rest.is_char_boundary(*at));
            let (piece, more) = rest.split_at(end.unwrap_or(rest.len()));
            pieces.push_back(ChatEvent::Text(piece.to_owned()));
            rest = more;
        }
        let (finish, usage) = (Finish::Stop, Usage::default());
        pieces.push_back(ChatEvent::End { finish, usage, model: "m".into() });
        Ok(Box::pin(Talk(pieces)))
    }
}

struct Talk(VecDeque<ChatEvent>);

impl Stream for Talk {
    type Item = Result<ChatEvent>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.pop_front().map(Ok))
    }
}
