//! The few forms of the protobuf wire format that an ONNX file needs.

/// The bytes of a message, field by field in the order of the calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Message(Vec<u8>);

/// How a field's value is laid out.
#[derive(Clone, Copy)]
enum Wire {
    Varint = 0,
    Length = 2,
    Fixed32 = 5,
}

impl Message {
    /// An integer; a negative one takes ten bytes, as int64 has it.
    pub(super) fn int(mut self, field: u32, value: i64) -> Self {
        self.key(field, Wire::Varint);
        self.varint(value as u64);
        self
    }

    /// A float of 32 bits.
    pub(super) fn float(mut self, field: u32, value: f32) -> Self {
        self.key(field, Wire::Fixed32);
        self.0.extend(value.to_le_bytes());
        self
    }

    /// A text, raw bytes, or packed numbers.
    pub(super) fn bytes(mut self, field: u32, value: impl AsRef<[u8]>) -> Self {
        let value = value.as_ref();
        self.key(field, Wire::Length);
        self.varint(value.len() as u64);
        self.0.extend(value);
        self
    }

    /// A message within the message.
    pub(super) fn message(self, field: u32, value: &Self) -> Self {
        self.bytes(field, &value.0)
    }

    /// The same field once per message.
    pub(super) fn messages(self, field: u32, values: &[Self]) -> Self {
        values.iter().fold(self, |whole, value| whole.message(field, value))
    }

    /// The same field once per integer.
    pub(super) fn ints(self, field: u32, values: &[i64]) -> Self {
        values.iter().fold(self, |whole, value| whole.int(field, *value))
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn key(&mut self, field: u32, wire: Wire) {
        self.varint(u64::from(field) << 3 | wire as u64);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the protobuf encoding guide.
    #[test]
    fn fields_are_laid_out_as_the_format_says() {
        assert_eq!(Message::default().int(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        let text = Message::default().bytes(2, "testing").into_bytes();
        assert_eq!(text, [0x12, 0x07, b't', b'e', b's', b't', b'i', b'n', b'g']);
        let inner = Message::default().int(1, 150);
        let outer = Message::default().message(3, &inner).into_bytes();
        assert_eq!(outer, [0x1a, 0x03, 0x08, 0x96, 0x01]);
        let minus_two = Message::default().int(1, -2).into_bytes();
        assert_eq!(minus_two.len(), 11);
        assert_eq!(minus_two.get(1..3), Some([0xfe, 0xff].as_slice()));
        let one = Message::default().float(1, 1.0).into_bytes();
        assert_eq!(one, [0x0d, 0x00, 0x00, 0x80, 0x3f]);
    }
}
