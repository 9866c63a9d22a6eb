//! t
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "t")]
use kuhaku_ingest::*;
use std::time::Instant;
fn main() {
    for (name, part) in [("x", "x"), ("word", "word "), ("cjk", "茶"), ("para", "Nine words of plain text stand in this sentence. And more.\n\n"), ("marks", "\u{301}"), ("ri", "🇹"), ("zwj","👩\u{200d}"), ("bracket","["), ("img","!["), ("lit", "a\n- b\n\n"), ("star","*a_"), ("paren", "[a]("), ("cell", "|a"), ("virama", "\u{94d}\u{200d}"), ("prep", "\u{600}"), ("a.", "a."), ("dash","-"), ("setext", "a\n=\n"), ("ent","&amp"), ("back","`a``"), ("sp", "\u{3000}"), ("tags", "<a "), ("refdef", "[a]: b\n"), ("hash", "# a\n\nb\n\n")] {
        for mb in [1usize, 4] {
            let text = part.repeat((mb << 20) / part.len());
            for f in [Format::Text, Format::Markdown] {
                let t = Instant::now();
                let d = load(format!("a{text}z").as_bytes(), f).unwrap();
                let l = t.elapsed();
                let t = Instant::now();
                let c = Chunker::default().chunk(&d);
                println!("{name:8} {mb}MB {f:?} load {l:?} chunk {:?} n={}", t.elapsed(), c.len());
            }
        }
    }
}
