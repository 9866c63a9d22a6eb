//! Conversations for services that want the roles to alternate.

use kuhaku_core::{Message, Role};

/// The messages with neighbours of one role joined by a blank line; blank ones are left out, since
/// such services refuse them.
pub(crate) fn alternating(messages: &[Message]) -> Vec<(Role, String)> {
    let mut turns: Vec<(Role, String)> = Vec::with_capacity(messages.len());
    for message in messages.iter().filter(|message| !message.text.trim().is_empty()) {
        match turns.last_mut() {
            Some((role, text)) if *role == message.role => {
                text.push_str("\n\n");
                text.push_str(&message.text);
            }
            _ => turns.push((message.role, message.text.clone())),
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_one_role_become_one_turn_and_blank_ones_vanish() {
        let messages = [
            Message::user("a"),
            Message::assistant(" \n"),
            Message::user("b"),
            Message::assistant("c"),
        ];
        let turns = alternating(&messages);
        assert_eq!(turns, [(Role::User, "a\n\nb".into()), (Role::Assistant, "c".into())]);
    }
}
